// From sources: it tells which modules are loaded.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { commands } from "./commands.js";
import { main } from "./main.js";
import { commandFile, type Running, start, within } from "./testing/command.js";
import { testFolder } from "./testing/folder.js";

const recorder = new URL("./testing/record-modules.mjs", import.meta.url).href;
const quickstart = fileURLToPath(new URL("../../../examples/quickstart/config", import.meta.url));

/** What the command loaded until `until` was there: `commander`, `yaml` …, and own files as `xdskit/src/main.ts`. */
async function loaded(args: readonly string[], until: (running: Running) => Promise<unknown>) {
  await using folder = await testFolder({ "modules.txt": "" });
  const file = join(folder.path, "modules.txt");
  const options = ["--conditions=@xdskit/source", "--import", "tsx", "--import", recorder];
  await using running = start("env", [`RECORDED_MODULES=${file}`, process.execPath, ...options, commandFile, ...args]);
  await within(until(running), () => `xdskit ${args.join(" ")} takes too long\n${running.err()}`);
  const urls = (await readFile(file, "utf8")).split("\n").map((url) => url.replace(/\?.*/, ""));
  const packages = urls.flatMap(
    (url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url)?.[1] ?? [],
  );
  const own = urls.flatMap((url) => (url.includes("/node_modules/") ? [] : (/\/packages\/(.*)$/.exec(url)?.[1] ?? [])));
  return { packages: [...new Set(packages)].filter((name) => name !== "tsx").sort(), own };
}

const itsEnd = async (running: Running) => assert.equal((await running.ended()).status, 0, running.err());

describe("the start of the command", () => {
  test("loads only itself for --version", async () => {
    const { packages, own } = await loaded(["--version"], itsEnd);
    assert.deepEqual(packages, []);
    assert.ok(own.length <= 10, own.join("\n"));
  });

  test("loads no command for --help", async () => {
    const { packages, own } = await loaded(["--help"], itsEnd);
    assert.deepEqual(packages, ["commander"]);
    assert.deepEqual(
      own.filter((file) => !file.startsWith("xdskit/")),
      [],
    );
    assert.ok(own.length <= 11, own.join("\n"));
  });

  test("loads only a command's options for its help", async () => {
    const { packages, own } = await loaded(["serve", "--help"], itsEnd);
    assert.deepEqual(packages, ["commander"]);
    assert.deepEqual(
      own.filter((file) => /^xdskit\/src\/(arguments|serve|commands)\b/.test(file)).sort(),
      [
        "arguments/arguments",
        "arguments/environment",
        "arguments/serving-options",
        "commands",
        "serve/serve-command",
      ].map((name) => `xdskit/src/${name}.ts`),
    );
    assert.ok(own.length <= 21, own.join("\n"));
  });

  test("loads for serve only the modules that a folder and an Envoy need", async () => {
    const ports = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    const { packages, own } = await loaded(["serve", quickstart, ...ports], (running) => running.seen(/^ready$/m));
    assert.deepEqual(packages, ["@bufbuild/protobuf", "commander", "re2js", "yaml"]);
    // Settings have a schema, metrics a library, generated messages import half of Envoy; relays, clients and other
    // commands are not there.
    const late =
      /^(client\/|relay\/|api\/gen\/|xdskit\/src\/(relay|get|asking|watch|status|plan|comparison|checking|validate|settings\/(schema|read-settings))\b|admin\/src\/(metrics\/metrics|create-admin-api|dashboard-files)\b)/;
    assert.deepEqual(
      own.filter((file) => late.test(file)),
      [],
    );
    assert.ok(own.includes("server/src/create-server.ts"));
  });
});

describe("a fleet", () => {
  test("loads neither a server nor gRPC", async () => {
    const args = ["--server", "127.0.0.1:1", "--nodes", "1", "--timeout", "100ms", "--duration", "100ms"];
    const { packages, own } = await loaded(["bench", ...args], async (running) => {
      assert.equal((await running.ended()).status, 1, running.err());
    });
    assert.deepEqual(packages, ["@bufbuild/protobuf", "commander", "re2js", "yaml"]);
    assert.ok(own.includes("fleet/src/crowd/crowd-client.ts"));
    assert.deepEqual(
      own.filter((file) => file.startsWith("server/")),
      ["server/src/basics/address.ts"],
    );
  });
});

describe("the list of commands", () => {
  test("has the summary of each command", async () => {
    const { Command, Help } = await import("commander");
    const terminal = { out() {}, err() {} };
    for (const { name, usage, load } of commands) {
      const command = (await load())(terminal, () => {});
      assert.equal(new Help().subcommandTerm(command), `${name} ${usage}`);
      assert.ok(command instanceof Command);
    }
  });

  test("leads to each command from its name, and from `help NAME`", async () => {
    for (const { name, usage } of commands) {
      for (const args of [
        [name, "--help"],
        ["help", name],
      ]) {
        const said: string[] = [];
        const terminal = { out: (text: string) => void said.push(text), err: (text: string) => assert.fail(text) };
        assert.equal(await main(args, terminal), 0, args.join(" "));
        const out = said.join("");
        assert.ok(out.startsWith(`Usage: xdskit ${name} ${usage}\n`), out);
        assert.match(out, /\nOptions:\n(?: {2}\S.*\n|\s+.*\n)+/);
      }
    }
  });
});
