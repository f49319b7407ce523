import assert from "node:assert/strict";
import { test } from "node:test";
import { commands, definedCommand } from "./commands.js";
import { inProcessEnds } from "./testing/in-process.js";

const nowhere = { out() {}, err() {} };

test("the help of each command fits a terminal of 80 columns, and has examples", async () => {
  for (const args of [[], ...commands.map(({ name }) => [name])]) {
    const { status, out } = await inProcessEnds(...args, "--help");
    assert.equal(status, 0);
    for (const line of out.split("\n")) assert.ok([...line].length <= 80, `${args.join(" ")}: ${line}`);
    assert.match(out, /^Examples?:$/m, args.join(" "));
  }
});

test("the list of commands is in groups", async () => {
  const { out } = await inProcessEnds("--help");
  const headings = [...out.matchAll(/^([A-Z]\w+):$/gm)].map(([, heading]) => heading);
  assert.deepEqual(headings, ["Options", "Serve", "Check", "Change", "Look", "Measure", "Other", "Examples"]);
});

/** These run until they are stopped, or what they print has a form of its own. */
const withoutJson = ["serve", "relay", "init", "schema", "completion", "bootstrap", "token", "health"];

test("each command that tells something takes both -o json and --json, in one shape", async () => {
  for (const entry of commands) {
    const { options } = await definedCommand(entry, nowhere, () => {});
    const output = options.find(({ short, long }) => short === "-o" && long === "--output");
    const json = options.find(({ long }) => long === "--json");
    const both = [output?.argChoices?.includes("json") ?? false, json !== undefined];
    assert.deepEqual(both, Array(2).fill(!withoutJson.includes(entry.name)), entry.name);
  }
  const folders = ["plan", "diff", "validate"].map((name) => [name, ...["", ""].slice(name === "validate" ? 1 : 0)]);
  const config = new URL("../../../examples/quickstart/config", import.meta.url).pathname;
  for (const [name = "", ...more] of folders) {
    const args = [name, ...more.map(() => config)];
    const shapes = await Promise.all(
      [["-o", "json"], ["--output", "json"], ["--json"]].map((how) => inProcessEnds(...args, ...how)),
    );
    for (const { status, out } of shapes) {
      assert.equal(status, 0, out);
      assert.deepEqual(Object.keys(JSON.parse(out)), Object.keys(JSON.parse(shapes[0]?.out ?? "")), args.join(" "));
    }
  }
});
