import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { createClient, type XdsClient } from "@xdskit/client";
import { commandFile, eventually, type Running, start } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcess, inProcessEnds } from "../testing/in-process.js";
import { type Served, served } from "../testing/served.js";

/** util-linux's program that gives a command a terminal. */
const hasScript = spawnSync("script", ["--version"]).status === 0;
const [home, showCursor] = ["\u001b[H", "\u001b[?25h"];

/** Starts a command on a terminal. `env` are arguments of `env`. */
function onTerminal(env: string, ...args: readonly string[]): Running {
  const words = [process.execPath, ...process.execArgv, commandFile, ...args].map((word) => `'${word}'`).join(" ");
  const line = `stty rows 12 cols 100; exec env ${env} TERM=xterm ${words}`;
  return start("script", ["-qefc", line, "/dev/null"], "pipe");
}

describe("xdskit top, at a real server", () => {
  let server: Served;
  const clients: XdsClient[] = [];
  before(async () => {
    server = await served({ "a.yaml": clusterYaml("a") });
    for (const id of ["good", "picky"]) {
      const client = createClient({
        servers: [server.grpc],
        node: { id },
        checks: {
          cluster: (message) =>
            id === "picky" && "altStatName" in message && message.altStatName !== "" ? "no, I will not" : undefined,
        },
      });
      client.watch("cluster", "*", { onChanged() {} });
      clients.push(client);
    }
    await synced(2);
  });
  after(async () => {
    for (const client of clients) await client.close();
    await server[Symbol.asyncDispose]();
  });
  const synced = (count: number) =>
    eventually(
      () => server.ask("/api/v1/fleet/summary") as Promise<{ states: { synced: number } }>,
      ({ states }) => states.synced === count,
    );

  it("prints a block for each change where there is no terminal, the node that rejects first", async () => {
    await using watching = inProcess(["top", "--server", server.admin, "--interval", "500ms"]);
    await eventually(
      async () => watching.out(),
      (out) => out.includes("2 nodes: 0 rejected, 0 stale, 0 pending, 0 held-back, 2 synced"),
    );
    await server.folder.write("a.yaml", `${clusterYaml("a")}alt_stat_name: new\n`);
    const out = await eventually(
      async () => watching.out(),
      (text) => /1 rejected.*\n(.*\n)*picky .*no, I will not/.test(text),
    );
    assert.equal(await watching.stop(), 0);
    assert.ok(!out.includes("\u001b"), "no escape codes");
    const last = out.split("\n\n2 nodes").at(-1) ?? "";
    assert.match(last, /: 1 rejected, 0 stale, 0 pending, 0 held-back, 1 synced/);
    assert.ok(last.indexOf("picky") < last.indexOf("good"), last);
    assert.match(last, /^ {2}error {2}\S/m);
  });

  it("prints JSON for programs, and only nodes that fit", async () => {
    const { status, out, err } = await inProcessEnds(
      "top",
      "--server",
      server.admin,
      "--count",
      "1",
      "--output",
      "json",
      "--state",
      "rejected",
    );
    assert.deepEqual([status, err], [0, ""]);
    const { states, worst, problems, nodes } = JSON.parse(out);
    assert.deepEqual([nodes, states], [1, { synced: 0, "held-back": 0, pending: 0, stale: 0, rejected: 1 }]);
    assert.deepEqual(
      worst.map(({ id }: { id: string }) => id),
      ["picky"],
    );
    assert.ok(problems.length >= 1);
  });

  it("ends, and says what there is, where there is no such state or group", async () => {
    for (const [option, value, known] of [
      ["--state", "foo", "synced, held-back, pending, stale, rejected"],
      ["--group", "nope", "all"],
    ] as const)
      for (const count of [[], ["--count", "1"]]) {
        const { status, out, err } = await inProcessEnds("top", "--server", server.admin, option, value, ...count);
        assert.deepEqual([status, out], [2, ""]);
        assert.ok(err.includes(`there is no ${option.slice(2)} "${value}": known are ${known}`), err);
      }
  });

  it("says that no server runs there", async () => {
    const { status, out, err } = await inProcessEnds("top", "--server", "http://127.0.0.1:1", "--count", "1");
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /^xdskit top: no server runs at http:\/\/127\.0\.0\.1:1: /);
  });

  it("shows no password of its URL, and sends it", async () => {
    const sent: (string | undefined)[] = [];
    const http = createServer(({ headers }, response) => {
      sent.push(headers.authorization);
      response.writeHead(401).end();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    try {
      const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
      const { status, err } = await inProcessEnds("top", "--server", `http://me:S3CR3T@${host}`, "--count", "1");
      assert.equal(status, 1);
      assert.match(err, new RegExp(`^xdskit top: http://${host} answers 401`));
      assert.equal(sent[0], `Basic ${Buffer.from("me:S3CR3T").toString("base64")}`);
    } finally {
      http.closeAllConnections();
      http.close();
    }
    const withPassword = server.admin.replace("http://", "http://me:S3CR3T@");
    for (const how of [[], ["--output", "json"]]) {
      const { status, out } = await inProcessEnds("top", "--server", withPassword, "--count", "1", ...how);
      assert.equal(status, 0);
      assert.doesNotMatch(out, /S3CR3T|me:/);
    }
  });

  it("shows a server of an older version, which refuses to be asked for revisions, without them", async () => {
    const older = createServer(async ({ url = "" }, response) => {
      const answer = url.includes("revisions=") ? undefined : await fetch(`${server.admin}${url}`);
      response.writeHead(answer?.status ?? 400, { "content-type": "application/json" });
      response.end(
        (await answer?.text()) ?? '{"code":"XDSKIT_API_REQUEST","detail":"query: Unrecognized key","findings":[]}',
      );
    });
    await once(older.listen(0, "127.0.0.1"), "listening");
    try {
      const place = `http://127.0.0.1:${(older.address() as AddressInfo).port}`;
      const { status, out, err } = await inProcessEnds("status", "--server", place);
      assert.deepEqual([status, err], [0, ""]);
      assert.match(out, /^NODE +STATE +GROUP +CLIENT +LAG +BEHIND +WHY$/m);
    } finally {
      older.close();
      older.closeAllConnections();
    }
  });

  it("is what status shows of an admin listener, in the words of the dashboard", async () => {
    const { status, out } = await inProcessEnds("status", "--server", server.admin);
    assert.equal(status, 0);
    assert.match(out, /^2 nodes: 1 rejected, 0 stale, 0 pending, 0 held-back, 1 synced/);
    assert.match(out, /^NODE +STATE +GROUP +REVISION +CLIENT +LAG +BEHIND +WHY$/m);
    assert.match(out, /^picky +rejected +all +before #2 +xdskit \S+ +- /m);
    const { out: all } = await inProcessEnds("status", "--all", "--server", server.admin);
    assert.match(all, /^good +synced +all +#2 /m);
    const json = JSON.parse((await inProcessEnds("status", "--server", server.admin, "--json")).out);
    assert.deepEqual(Object.keys(json), ["server", "at", "troubles", "nodes", "states"]);
    assert.deepEqual(
      json.nodes.map(({ id, state }: { id: string; state: string }) => `${id} ${state}`),
      ["picky rejected", "good synced"],
    );
    assert.deepEqual([json.server, json.troubles, json.states.rejected], [server.admin, [], 1]);
    const one = await inProcessEnds("status", "--server", server.admin, "good");
    assert.match(one.out, /^good: synced \(xdskit \S+, runs #2\)\n {2}cluster: synced, /);
    const none = await inProcessEnds("status", "--server", server.admin, "nobody");
    assert.deepEqual([none.status, none.out], [1, ""]);
    assert.match(none.err, /there is no node "nobody"/);
    const wrong = await inProcessEnds("status", "--server", server.admin, "--node", "good");
    assert.equal(wrong.status, 2);
    assert.match(wrong.err, /--server must be HOST:PORT/);
  });

  it("says in status which sources have errors, in the first line and in the JSON", async () => {
    await server.folder.write("bad.yaml", "no: resource\n");
    try {
      const { troubles } = await eventually(
        async () => JSON.parse((await inProcessEnds("status", "--server", server.admin, "--json")).out),
        (json) => json.troubles.length > 0,
      );
      const [{ source, kind, message }] = troubles;
      assert.deepEqual([troubles.length, kind], [1, "errors"]);
      assert.match(source, /^folder /);
      assert.match(message, /bad\.yaml/);
      const { out } = await inProcessEnds("status", "--server", server.admin);
      assert.match(out, /^folder .* has errors, and what was good last is served: .*bad\.yaml.*\n2 nodes: /);
      const one = await inProcessEnds("status", "--server", server.admin, "good", "--check");
      assert.match(one.out, /^folder .* has errors, and what was good last is served: .*bad\.yaml.*\ngood: synced /);
      assert.equal(one.status, 1);
      const json = JSON.parse((await inProcessEnds("status", "--server", server.admin, "good", "--json")).out);
      assert.deepEqual(json.troubles, troubles);
    } finally {
      await server.folder.write("bad.yaml", "");
    }
  });

  const commands = [["top"], ["status", "--watch", "--all"]];
  const skip = hasScript ? false : "there is no program `script`";
  for (const [env, isColoured] of [
    ["-u NO_COLOR", true],
    ["NO_COLOR=1", false],
  ] as const) {
    it(`draws its page anew on a terminal ${isColoured ? "in colour" : "without colours for NO_COLOR"}`, {
      skip,
    }, async () => {
      await Promise.all(
        commands.map(async (command) => {
          await using watching = onTerminal(env, ...command, "--server", server.admin, "--interval", "500ms");
          const pages = async () => watching.out().split(home).slice(1);
          const [, last = ""] = await eventually(pages, (drawn) => drawn.length > 2);
          for (const one of ["2 nodes", "1 rejected", "1 synced", "picky", "good"])
            assert.ok(last.includes(one), `${one}: ${last}`);
          assert.equal(last.includes("\u001b[31m1 rejected\u001b[39m"), isColoured, last);
          assert.equal(last.includes("\u001b[3") || last.includes("\u001b[1m"), isColoured, last);
          // Ctrl-C.
          watching.input("\u0003");
          const { status, out } = await watching.ended();
          assert.equal(status, 0, out);
          assert.ok(out.split(home).at(-1)?.includes(showCursor), out);
        }),
      );
    });
  }
});

// Outside: the signal ends the server of the other tests.
for (const [command = "", ...more] of [["top", "--count", "1"], ["status"], ["status", "--json"]]) {
  it(`${[command, ...more].join(" ")} fails if a signal comes before its page`, async () => {
    let isStopped = false;
    // It asks for several things at once.
    const http = createServer(() => {
      if (!isStopped) process.kill(process.pid, "SIGTERM");
      isStopped = true;
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    try {
      const server = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
      const { status, out } = await inProcessEnds(command, "--server", server, ...more);
      assert.deepEqual([status, out], [1, ""]);
    } finally {
      http.closeAllConnections();
      http.close();
    }
  });
}
