import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import type { RevisionJson } from "../api-client/api-types.js";
import { commandFile, eventually, start } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { type Served, served } from "../testing/served.js";

let server: Served;
/** The ids of the layer's revisions, oldest first. */
let ids: readonly string[];
before(async () => {
  server = await served({ "c.yaml": clusterYaml("folder") });
  for (const time of ["1s", "2s", "3s"]) {
    const file = await server.file("web.yaml", clusterYaml("web", time));
    assert.equal((await server.run("apply", "-f", file, "-m", `timeout ${time}`)).status, 0);
  }
  ids = (await revisions("api")).map(({ id }) => id).reverse();
});
after(() => server[Symbol.asyncDispose]());

async function revisions(layer?: string): Promise<readonly RevisionJson[]> {
  const { out } = await server.run("history", "--output", "json", ...(layer === undefined ? [] : ["--layer", layer]));
  return JSON.parse(out).revisions;
}

async function timeout(): Promise<string> {
  const page = (await server.ask("/api/v1/layers/api/resources?name=web")) as {
    readonly resources: readonly { readonly resource: { readonly connectTimeout: string } }[];
  };
  return page.resources[0]?.resource.connectTimeout ?? "none";
}

describe("xdskit history", () => {
  test("lists the revisions of all layers or one, newest first, with author, time and reason", async () => {
    const { status, out, err } = await server.run("history");
    assert.deepEqual([status, err], [0, ""]);
    const lines = out.trimEnd().split("\n");
    assert.equal(lines.length, 4);
    assert.match(
      lines[0] ?? "",
      /^\S{10} {2}api {5}#3 {2}20\d\d-\d\d-\d\d \d\d:\d\d:\d\d {2}\+1 -0 {2}\S+ +timeout 3s \(api\)$/,
    );
    assert.match(lines[3] ?? "", /^\S{10} {2}folder {2}#1 .* c\.yaml$/);
    const one = await server.run("history", "--layer", "api", "--limit", "2");
    assert.equal(one.out.trimEnd().split("\n").length, 2);
    assert.equal(one.err, "the newest 2 are shown: --limit asks for more\n");
    assert.deepEqual(
      (await revisions("folder")).map(({ number }) => number),
      [1],
    );
  });

  test("reports an unknown layer and a wrong number", async () => {
    const { status, err } = await server.run("history", "--layer", "nope");
    assert.deepEqual([status, /\[XDSKIT_LAYER_UNKNOWN\]\n$/.test(err)], [1, true]);
    assert.equal((await server.run("history", "--limit", "no")).status, 2);
  });
});

describe("xdskit show and diff --from", () => {
  test("print the changes of a revision with show, also by the beginning of its id", async () => {
    const [, second = ""] = ids;
    for (const id of [second, second.slice(0, 8)]) {
      const { status, out } = await server.run("show", id);
      assert.equal(status, 0);
      assert.match(out, new RegExp(`^revision ${second}\nlayer    api, #2, after \\S{10}\n`));
      assert.match(
        out,
        /\nmessage {2}timeout 2s\n.*\n\n# cluster "web": changed\n(?: .*\n)+- connect_timeout: 1s\n\+ connect_timeout: 2s\n$/,
      );
    }
    const json = JSON.parse((await server.run("show", second, "-o", "json")).out);
    assert.deepEqual([json.id, json.changes.length], [second, 1]);
  });

  test("compare two revisions, or one with the newest, with diff", async () => {
    const [first = "", second = ""] = ids;
    const { status, out } = await server.run("diff", "--from", first, "--to", second);
    assert.equal(status, 3);
    assert.match(out, /\n- connect_timeout: 1s\n\+ connect_timeout: 2s\n/);
    const json = JSON.parse((await server.run("diff", "--from", first, "--to", second, "--output", "json")).out);
    const [group] = json.groups;
    assert.deepEqual([group.name, group.state, Object.keys(group).length], ["all", "planned", 4]);
    const newest = await server.run("diff", "--from", second.slice(0, 6));
    assert.match(
      newest.out,
      /\n- connect_timeout: 2s\n\+ connect_timeout: 3s\n\n1 stage: 0 added, 1 changed, 0 removed\n/,
    );
    const same = await server.run("diff", "--from", first, "--to", first);
    assert.deepEqual([same.status, same.out], [0, "nothing differs\n"]);
  });

  test("report an unknown revision and a too short beginning", async () => {
    for (const [command, ...args] of [
      ["show", "nothing-like-it"],
      ["show", (ids[0] ?? "").slice(0, 3)],
      ["diff", "--from", "nothing-like-it"],
      ["rollback", "nothing-like-it"],
    ] as const) {
      const { status, out, err } = await server.run(command, ...args);
      assert.deepEqual([status, out], [1, ""]);
      assert.match(err, /there is no revision ".*"xdskit history" lists what there is\n$/);
    }
    for (const args of [["--to", "x"], ["--from", "a", "."], [], [".", ".", "."]])
      assert.equal((await server.run("diff", ...args)).status, 2, args.join(" "));
  });
});

describe("a state without resources", () => {
  test("is shown and named: what goes on the way back to it, and a revision that changed nothing", async () => {
    await using empty = await served({ "none.yaml": "[]\n" }, "--allow-empty");
    const file = await empty.file("web.yaml", clusterYaml("web"));
    assert.equal((await empty.run("apply", "-f", file)).status, 0);
    const dry = await empty.run("rollback", "--layer", "api", "--dry-run");
    assert.equal(dry.status, 3);
    assert.match(dry.out, /^# cluster "web": removed\n/);
    assert.match(dry.out, /\ndry run, layer api: 1 removed; nothing was done\n$/);
    assert.match((await empty.run("rollback", "--layer", "api")).out, /^- cluster "web"\n/);
    const history = await empty.run("history", "--layer", "api", "--limit", "1");
    assert.match(history.out, /rollback to an empty layer\n$/);
    const list = await empty.run("history", "--layer", "folder", "--output", "json");
    const [first] = JSON.parse(list.out).revisions as readonly RevisionJson[];
    const shown = await empty.run("show", first?.id ?? "");
    assert.match(shown.out, /\nchanges {2}\+0 -0\n\nnothing differs\n$/);
  });
});

describe("xdskit rollback", () => {
  test("undoes the newest change, or goes back to a revision, and prints the changes", async () => {
    const dry = await server.run("rollback", "--layer", "api", "--dry-run");
    assert.equal(dry.status, 3);
    assert.match(dry.out, /\n- connect_timeout: 3s\n\+ connect_timeout: 2s\n/);
    assert.equal(await timeout(), "3s");
    const { status, out } = await server.run("rollback", "--layer", "api", "--message", "too long");
    assert.equal(status, 0);
    assert.match(out, /^~ cluster "web"\nrevision \S{10} of layer api: 1 changed\n/);
    assert.equal(await timeout(), "2s");
    const [first = ""] = ids;
    // The word behind --wait is the revision.
    assert.equal((await server.run("rollback", "--dry-run", "--wait", first.slice(0, 8))).status, 3);
    assert.equal((await server.run("rollback", first.slice(0, 8))).status, 0);
    assert.equal(await timeout(), "1s");
    const history = await server.run("history", "--layer", "api", "--limit", "2");
    assert.match(history.out, /rollback to \S{10}\n\S{10} .*too long \(rollback to \S{10}\)\n$/);
  });

  test("takes the only layer that has something from before its head", async () => {
    const { status, out, err } = await server.run("rollback", "--dry-run");
    assert.deepEqual([status, err], [3, ""]);
    assert.match(out, /dry run, layer api: 1 changed/);
  });

  test("refuses a revision of another layer", async () => {
    const [first = ""] = ids;
    const other = await server.run("rollback", first, "--layer", "folder");
    assert.deepEqual([other.status, other.out], [1, ""]);
    assert.match(other.err, /is one of layer "api", not of "folder"\n$/);
  });

  test("serves the older content of a folder's layer until the folder changes, and says that it still has the newer", async () => {
    await server.folder.write("c.yaml", clusterYaml("folder", "9s"));
    await eventually(
      () => revisions("folder"),
      (found) => found.length === 2,
    );
    const { status, out, err } = await server.run("rollback", "--layer", "folder");
    assert.equal(status, 0);
    assert.match(out, /^~ cluster "folder"\n/);
    assert.match(
      err,
      /^folder \S+ still holds what was taken back: its next change brings it back, so undo it there\n$/,
    );
    const api = await server.run("rollback", "--layer", "api", "--dry-run");
    assert.equal(api.err, "");
    const { out: diff } = await server.run("diff", server.folder.path);
    assert.match(diff, /\n- connect_timeout: 1s\n\+ connect_timeout: 9s\n/);
    await server.folder.write("c.yaml", clusterYaml("folder", "4s"));
    await eventually(
      () => server.run("diff", server.folder.path),
      ({ status: code }) => code === 0,
    );
  });

  test("shows the newest change of all layers where nobody says which, and takes it back only with --yes", async () => {
    await server.folder.write("c.yaml", clusterYaml("folder", "8s"));
    // The change before it may be served, and its revision written only now.
    const asked = await eventually(
      () => server.run("rollback"),
      ({ out }) => out.includes("+ connect_timeout: 8s"),
    );
    const heads = async () => (await revisions()).slice(0, 2).map(({ id }) => id);
    const [head = ""] = await heads();
    assert.equal(asked.status, 2);
    assert.match(asked.out, new RegExp(`^The newest change:\nrevision ${head}\nlayer    folder, `));
    assert.match(asked.out, /\n- connect_timeout: 4s\n\+ connect_timeout: 8s\n\n$/);
    assert.match(asked.err, /nothing was done, .*: --yes takes this one back, --layer api another one\n$/);
    const json = await server.run("rollback", "-o", "json");
    assert.deepEqual([json.status, json.out], [2, ""]);
    assert.equal((await heads())[0], head);
    const done = await server.run("rollback", "--yes");
    assert.equal(done.status, 0, done.err);
    assert.match(done.out, /\n~ cluster "folder"\nrevision \S{10} of layer folder: 1 changed\n$/);
    assert.equal((await heads())[1], head);
  });

  const skip = spawnSync("script", ["--version"]).status === 0 ? false : "there is no program `script`";
  test("asks on a terminal, and takes nothing but yes for yes", { skip }, async () => {
    const head = async () => (await revisions("folder"))[0]?.id ?? "";
    const before = await head();
    const words = [process.execPath, ...process.execArgv, commandFile, "rollback", "--server", server.admin];
    const line = words.map((word) => `'${word}'`).join(" ");
    for (const [answer, status] of [
      ["\n", 1],
      // The end of the input.
      ["\u0004", 1],
      ["y\n", 0],
    ] as const) {
      await using asking = start("script", ["-qefc", `stty cols 80; exec ${line}`, "/dev/null"], "pipe");
      await asking.seen(/The newest change:[\s\S]*Take it back\? \[y\/N\] /);
      asking.input(answer);
      const ended = await asking.ended();
      assert.equal(ended.status, status, ended.out);
      assert.equal((await head()) === before, status === 1, ended.out);
    }
  });
});
