import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createClient } from "@xdskit/client";
import { createServer, type XdsServer } from "@xdskit/server";
import { main } from "../main.js";
import { eventually, xdskit } from "../testing/command.js";
import { inProcess } from "../testing/in-process.js";
import { cluster } from "../testing/odd-responses.js";

/** Runs the command in this process. */
async function run(...args: readonly string[]) {
  let [out, err] = ["", ""];
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
  };
  return { status: await main(["status", ...args], terminal), out, err };
}

async function withServer(test: (address: string, server: XdsServer) => Promise<void>): Promise<void> {
  const server = createServer();
  try {
    await test((await server.listen({ grpc: "127.0.0.1:0" })).grpc, server);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

describe("xdskit status", () => {
  test("says that there are no nodes", () =>
    withServer(async (address) => {
      const text = await run("--server", address);
      assert.deepEqual(text, { status: 0, out: "no nodes\n", err: "" });
      const json = await run("--server", address, "--json", "--node", "edge-*", "--type", "cds");
      const { at, ...rest } = JSON.parse(json.out);
      assert.deepEqual(rest, { server: address, troubles: [], nodes: [] });
      assert.equal(new Date(at).toISOString(), at);
      const one = await run("--server", address, "edge-1");
      assert.equal(one.status, 1);
      assert.equal(one.err, 'xdskit status: no node "edge-1" has a discovery stream\n');
    }));

  test("says who is held back by a rollout", async () => {
    const server = createServer({ rollout: { steps: [{ match: { id: "first" } }], soakMs: 60_000 } });
    try {
      server.config.set([cluster("a")]);
      const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
      const clients = ["first", "second"].map((id) => createClient({ servers: [grpc], node: { id } }));
      const seen = (id: string) => server.node(id)?.state === "synced";
      for (const client of clients) client.watch("cluster", "a", { onChanged: () => {} });
      await eventually(async () => ["first", "second"].every(seen), Boolean);
      server.config.set([cluster("a", 2)]);
      await eventually(async () => server.rollouts()[0]?.nodes.held === 1 && seen("first"), Boolean);
      const { out } = await run("--server", grpc);
      const why = "1 resource held back by the rollout of all at step 1 of 1";
      assert.match(out, /^2 nodes: 0 rejected, 0 stale, 0 pending, 1 held-back, 1 synced$/m);
      assert.match(out, new RegExp(`^second +held-back .* cluster: ${why}$`, "m"));
      assert.doesNotMatch(out, /^first/m);
      const all = await run("--server", grpc, "--all");
      assert.match(all.out, /^second .*\nfirst +synced /m);
      assert.match((await run("--server", grpc, "--node", "fir*")).out, /^first +synced /m);
      const checked = async (...nodes: readonly string[]) => {
        const { status, err } = await run("--server", grpc, "--check", ...nodes.flatMap((each) => ["--node", each]));
        return [status, err];
      };
      assert.deepEqual(await checked("fir*"), [0, ""]);
      // A check of a misspelled name checks nothing.
      assert.deepEqual(await checked("zz-*"), [1, 'xdskit status: no node fits "zz-*"\n']);
      assert.deepEqual(await checked("first", "thrid"), [1, 'xdskit status: no node fits "thrid"\n']);
      const one = await run("--server", grpc, "second");
      assert.match(one.out, new RegExp(`^ {2}cluster: held-back, .*: ${why}$`, "m"));
      for (const client of clients) await client.close();
    } finally {
      await server.close({ timeoutMs: 500 });
    }
  });

  test("shows and checks of the named types only who asks for them", () =>
    withServer(async (address, server) => {
      server.config.set([cluster("a")]);
      const client = createClient({ servers: [address], node: { id: "edge-1" } });
      client.watch("cluster", "a", { onChanged: () => {} });
      await eventually(async () => server.node("edge-1")?.state === "synced", Boolean);
      const asked = (...args: readonly string[]) => run("--server", address, ...args);
      assert.match((await asked("--type", "cluster")).out, /^1 node: .*1 synced\n/);
      assert.equal((await asked("--type", "cluster", "--check")).status, 0);
      assert.deepEqual(await asked("--type", "listener"), { status: 0, out: "no nodes\n", err: "" });
      const checked = async (...args: readonly string[]) => {
        const { status, err } = await asked("--check", ...args);
        return [status, err];
      };
      const nobody = [1, "xdskit status: no node asks for listener\n"];
      assert.deepEqual(await checked("--type", "listener"), nobody);
      assert.deepEqual(await checked("--type", "cluster", "--type", "listener"), nobody);
      assert.deepEqual(await checked("--type", "cluster", "--node", "edge-1", "--node", "edge-2"), [
        1,
        'xdskit status: no node fits "edge-2" and asks for cluster\n',
      ]);
      assert.match((await asked("edge-1", "--type", "cluster")).out, /cluster: synced/);
      assert.deepEqual(await asked("edge-1", "--type", "listener"), {
        status: 1,
        out: "",
        err: 'xdskit status: node "edge-1" asks for no listener\n',
      });
      await client.close();
    }));

  test("says which source has errors, until it has none", () =>
    withServer(async (address, server) => {
      server.config.set([cluster("a")]);
      await run("--server", address);
      assert.throws(() => server.config.set([cluster("a"), cluster("a")]));
      const { status, out } = await run("--server", address);
      assert.equal(status, 0);
      assert.match(out, /^default has errors, and what was good last is served: .*names it twice.*\nno nodes\n$/);
      const json = JSON.parse((await run("--server", address, "--json")).out);
      assert.match(json.troubles[0].message, /names it twice/);
      const one = await run("--server", address, "--node", "edge-*");
      assert.match(one.out, /^default has errors/);
      server.config.set([cluster("b")]);
      assert.equal((await run("--server", address)).out, "no nodes\n");
      // There is nobody who could be behind.
      assert.equal((await run("--server", address, "--check")).status, 0);
    }));

  test("says that nobody answers", async () => {
    const { status, out, err } = await run("--server", "127.0.0.1:1");
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /^xdskit status: nobody answers at 127\.0\.0\.1:1: .*\(connect ECONNREFUSED 127\.0\.0\.1:1\)\n$/);
  });

  test("says that somebody answers who does not speak gRPC", async () => {
    const server = createServer();
    try {
      const { rest } = await server.listen({ rest: "127.0.0.1:0" });
      const { status, err } = await run("--server", rest);
      assert.equal(status, 1);
      assert.match(err, /\(it does not speak HTTP\/2: is this the address for gRPC\?\)\n$/);
    } finally {
      await server.close({ timeoutMs: 500 });
    }
  });

  test("says what is wrong with its arguments", async () => {
    for (const args of [
      ["--type", "nothing"],
      ["--server", "nowhere"],
      ["--interval", "1ms"],
      ["--timeout", "5"],
    ]) {
      const { status, err } = await run(...args);
      assert.equal(status, 2, args.join(" "));
      assert.notEqual(err, "");
    }
  });

  test("--watch goes on until a signal comes, whether somebody answers or not", () =>
    withServer(async (address) => {
      await using watching = xdskit("status", "--server", address, "--watch", "--interval", "500ms");
      await watching.seen(/(no nodes\n){2}/);
      watching.kill("SIGTERM");
      assert.equal((await watching.ended()).status, 0);
      await using waiting = xdskit("status", "--server", "127.0.0.1:1", "--watch", "--json", "--interval", "500ms");
      await waiting.seen(/(xdskit status: nobody answers.*\n){2}/, "err");
      waiting.kill("SIGINT");
      assert.deepEqual([(await waiting.ended()).status, waiting.out()], [0, ""]);
    }));

  test("--watch ends when nobody reads it any more", () =>
    withServer(async (address) => {
      await using watching = inProcess(["status", "--server", address, "--watch", "--interval", "1h"]);
      assert.equal(await watching.stop(), 0);
    }));
});
