import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "@xdskit/client";
import { commands, definedCommand } from "./commands.js";
import { eventually } from "./testing/command.js";
import { clusterYaml } from "./testing/folder.js";
import { atTerminal, inProcessEnds } from "./testing/in-process.js";
import { served } from "./testing/served.js";

const nowhere = { out() {}, err() {} };

test("the help of each command fits a terminal of 80 columns, and has examples", async () => {
  for (const args of [[], ...commands.map(({ name }) => [name])]) {
    const { status, out } = await inProcessEnds(...args, "--help");
    assert.equal(status, 0);
    for (const line of out.split("\n")) assert.ok([...line].length <= 80, `${args.join(" ")}: ${line}`);
    assert.match(out, /^Examples?:$/m, args.join(" "));
  }
});

test("what a command tells fits a terminal of 80 columns, and is whole where nobody looks", async () => {
  const long = "a-cluster-with-a-long-name-of-a-team-that-likes-long-names";
  await using server = await served({ "a.yaml": clusterYaml(long), "b.yaml": clusterYaml("b") });
  const client = createClient({
    servers: [server.grpc],
    node: { id: "edge-of-the-shop-in-europe" },
    checks: {
      cluster: (message) =>
        "altStatName" in message && message.altStatName !== "" ? `no, ${"I will not ".repeat(12)}` : undefined,
    },
  });
  client.watch("cluster", "*", { onChanged() {} });
  const isIn = (state: string) =>
    eventually(
      () => server.ask("/api/v1/fleet/summary") as Promise<{ states: Record<string, number> }>,
      ({ states }) => states[state] === 1,
    );
  try {
    await isIn("synced");
    await server.folder.write("a.yaml", `${clusterYaml(long)}alt_stat_name: new\n`);
    await isIn("rejected");
    await eventually(
      () => server.ask("/api/v1/revisions") as Promise<{ revisions: readonly unknown[] }>,
      ({ revisions }) => revisions.length === 2,
    );
    const empty = await mkdtemp(join(tmpdir(), "xdskit-width-"));
    const at = ["--server", server.admin];
    const folder = server.folder.path;
    const told: Readonly<Record<string, readonly string[]>> = {
      history: at,
      wait: ["--timeout", "1ms", ...at],
      rollout: ["status", ...at],
      plan: [empty, folder],
      diff: [empty, folder],
      validate: [folder],
      top: ["--count", "1", ...at],
      export: ["--layer", "nobody", ...at],
      audit: [join(empty, "nobody")],
    };
    for (const [name, args] of Object.entries(told)) {
      const narrow = await atTerminal(80, name, ...args);
      fits(narrow.out + narrow.err, name);
      // It cuts its lines, as status does.
      if (name === "top") continue;
      const wide = await inProcessEnds(name, ...args);
      const words = ({ out, err }: typeof wide) => (out + err).split(/\s+/);
      assert.deepEqual(words(narrow), words(wide), name);
    }
    const init = await atTerminal(80, "init", join(empty, "config"));
    fits(init.out + init.err, "init");
    // A line a node: what does not fit is cut there, and nowhere else.
    for (const server_ of [server.admin, server.grpc]) {
      const status = ["status", "--server", server_];
      const narrow = await atTerminal(80, ...status);
      fits(narrow.out, status.join(" "));
      assert.match(narrow.out, /^edge-of-\S+ +rejected .*…$/m);
      assert.match((await inProcessEnds(...status)).out, /I will not I will not I will not I will not I will not/);
    }
    const bench = await atTerminal(80, "bench", "--server", server.grpc, "--ads", "--nodes", "1", "--duration", "1ms");
    fits(bench.out, "bench");
    assert.match(bench.out, /^streams .*\n {2}\S/m);
    // What the parser says of wrong usage.
    fits((await atTerminal(80, "completion", "a-shell-that-nobody-has")).err, "completion");
    const back = await atTerminal(80, "rollback", ...at);
    fits(back.out + back.err, "rollback");
    fits((await atTerminal(80, "status", "edge-of-the-shop-in-europe", "--server", server.grpc)).out, "status NODE");
  } finally {
    await client.close();
  }
});

/** A word that is longer itself stays whole, so that it can be copied. */
function fits(text: string, name: string): void {
  assert.notEqual(text, "", name);
  for (const line of text.split("\n"))
    assert.ok([...line].length <= 80 || !line.trim().includes(" "), `${name}: ${line}`);
}

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
