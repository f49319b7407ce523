import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { RevisionJson } from "./api-client/api-types.js";
import { type Ended, eventually } from "./testing/command.js";
import { clusterYaml } from "./testing/folder.js";
import { inProcessEnds } from "./testing/in-process.js";
import { type Served, served } from "./testing/served.js";

const page = await readFile(new URL("../../../docs/changes.md", import.meta.url), "utf8");

/** The commands in the page's blocks, without the comments behind them. */
const commands = [...page.matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block = ""]) => block.split("\n"))
  .map((line) => line.replace(/\s+#.*$/, ""))
  .filter((line) => line !== "");

/** The id that stands in the page for one of the layer `api`. */
const idInPage = "3f9aKd";

/** A server on a folder. The files that the page names are in the folder of this process from now on. */
async function stage(): Promise<Served> {
  const server = await served({ "c.yaml": clusterYaml("web") });
  const beside = dirname(await server.file("cluster.yaml", clusterYaml("web", "2s")));
  for (const [folder, time] of [
    ["config", "1s"],
    ["config.new", "3s"],
  ] as const) {
    await mkdir(join(beside, folder));
    await writeFile(join(beside, folder, "c.yaml"), clusterYaml("web", time));
  }
  process.chdir(beside);
  return server;
}

/** Runs a command as the page has it, on this server. */
async function run(server: Served, line: string, id: string): Promise<Ended> {
  const [command = "", redirected] = line.replace(/^npx xdskit /, "").split(" > ");
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const args = words.map((word) => (word === idInPage ? id : word === "/var/lib/xdskit" ? "state" : word));
  const ended = await inProcessEnds(...args, ...(line.includes("config.new") ? [] : ["--server", server.admin]));
  if (redirected !== undefined) await writeFile(redirected, ended.out);
  return ended;
}

/** What each command of the page says, in its order, and how it ends if that is not with 0. */
const expected: readonly (readonly [line: RegExp, out: RegExp, status?: number])[] = [
  [/ apply -f cluster\.yaml --message .* --wait$/, /^\+ cluster "web"\nrevision \S{10} of layer api: 1 added\n.*\n$/],
  [/ delete cluster web canary$/, /^- cluster "canary"\n- cluster "web"\nrevision \S{10} of layer api: 2 removed\n$/],
  [/ diff \.\/config$/, /^nothing differs\n$/],
  [/ diff \.\/config \.\/config\.new$/, /\n- connect_timeout: 1s\n\+ connect_timeout: 3s\n\n1 stage: /, 3],
  [/ diff --from 3f9aKd$/, /^# cluster "web": removed\n/, 3],
  [/ wait$/, /^0 of 0 nodes synced\n$/],
  [/ wait 3f9aKd --for 50%$/, /^no node has a stream that this change concerns\n$/],
  [/ history$/, /^\S{10} {2}api .*\n(.*\n)*\S{10} {2}folder .* c\.yaml\n$/],
  [/ show 3f9aKd$/, /^revision \S+\nlayer {4}api, #1, its first\n/],
  [/ rollback$/, /^The newest change:\n[\s\S]*\n~ cluster "web"\nrevision \S{10} of layer folder: 1 changed\n$/],
  [/ rollback --layer folder$/, /^~ cluster "web"\nrevision \S{10} of layer folder: 1 changed\n$/],
  [/ rollback 3f9aKd --wait$/, /^\+ cluster "web"\nrevision \S{10} of layer api: 1 added\n/],
  [/ export > backup\.json$/, /"format": "xdskit-export\/1"/],
  [/ import backup\.json --dry-run$/, /^dry run, layer api: nothing changes\n$/],
  [/ import backup\.json$/, /^layer api: nothing changes\n$/],
  [/ export backup\.json --show-secrets --state \/var\/lib\/xdskit$/, /^$/],
];

/** Something happens between two commands of the page. */
const before: Readonly<Record<string, (server: Served) => Promise<void>>> = {
  "npx xdskit delete cluster web canary": async (server) => {
    const file = await server.file("canary.yaml", clusterYaml("canary"));
    assert.equal((await server.run("apply", "-f", file)).status, 0);
  },
  "npx xdskit rollback --layer folder": async (server) => await changeFolder(server),
};

async function changeFolder(server: Served): Promise<void> {
  await server.folder.write("c.yaml", clusterYaml("web", "7s"));
  await eventually(
    () => revisions(server, "folder"),
    ([head]) => head?.number === 2,
  );
}

async function revisions(server: Served, layer: string): Promise<readonly RevisionJson[]> {
  const { revisions } = (await server.ask(`/api/v1/revisions?layer=${layer}`)) as {
    revisions: readonly RevisionJson[];
  };
  return revisions;
}

describe("the page about changes", () => {
  it("has commands that do what it says, one after the other", async () => {
    assert.equal(commands.length, expected.length, commands.join("\n"));
    // Where only one layer has changes, as the page says of one command: on a server that nobody wrote to.
    await using fresh = await served({ "c.yaml": clusterYaml("web") });
    await changeFolder(fresh);
    await using server = await stage();
    for (const [index, line] of commands.entries()) {
      const [pattern = /^$/, out = /^$/, status = 0] = expected[index] ?? [];
      assert.match(line, pattern);
      await before[line]?.(server);
      const first = (await revisions(server, "api")).at(-1)?.id ?? "";
      const ended = await run(line.endsWith(" rollback") ? fresh : server, line, first);
      assert.equal(ended.status, status, `${line}\n${ended.out}${ended.err}`);
      assert.match(ended.out, out, line);
    }
  });
});
