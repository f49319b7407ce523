import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createServer, type XdsServer } from "@xdskit/server";
import { eventually, type Running, within, xdskit, xdskitWithInput } from "../testing/command.js";
import { cluster } from "../testing/odd-responses.js";

async function withServer(run: (server: XdsServer, address: string) => Promise<void>): Promise<void> {
  const server = createServer();
  try {
    await run(server, (await server.listen({ grpc: "127.0.0.1:0" })).grpc);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

const lines = (running: Running) => running.out().trimEnd().split("\n");

describe("the process of xdskit watch", () => {
  it("takes names from standard input, whose end changes nothing, and ends with 0 on SIGTERM", () =>
    withServer(async (server, address) => {
      server.config.set(["a", "b", "c"].map((name) => cluster(name)));
      const args = ["--output", "jsonl", "--server", address, "--type", "cluster", "--stdin", "a"];
      await using watching = xdskitWithInput("watch", ...args);
      await watching.seen(/"event":"upsert".*"name":"a"/);
      watching.input("+b\nwhat\n");
      await watching.seen(/"event":"upsert".*"name":"b"/);
      watching.input("-a\n+c");
      watching.input();
      await watching.seen(/"event":"upsert".*"name":"c"/);
      server.config.update({ upsert: [cluster("a", 2), cluster("b", 2)] });
      await watching.seen(/"name":"b".*"2s"/);
      assert.ok(!/"name":"a".*"2s"/.test(watching.out()), watching.out());
      for (const line of lines(watching)) assert.equal(typeof JSON.parse(line).event, "string");
      assert.match(watching.err(), /expected \+NAME or -NAME on standard input: "what"\n/);
      watching.kill("SIGTERM");
      const { status, signal } = await within(watching.ended(), () => "it did not end", 20_000);
      assert.deepEqual([status, signal], [0, null]);
      await eventually(
        async () => server.nodes(),
        (nodes) => nodes.length === 0,
      );
    }));

  for (const variant of ["sotw", "delta"]) {
    it(`takes * as a name beside others, and leaves it, ${variant}`, () =>
      withServer(async (server, address) => {
        server.config.set([cluster("a"), cluster("b")]);
        const args = ["--variant", variant, "--output", "jsonl", "--server", address, "--type", "cluster", "--stdin"];
        await using watching = xdskitWithInput("watch", ...args, "*", "a", "none");
        await watching.seen(/"event":"upsert".*"name":"a"/);
        await watching.seen(/"event":"upsert".*"name":"b"/);
        await watching.seen(/"event":"not_found".*"name":"none"/);
        watching.input("-*\n+c\n");
        await watching.seen(/"event":"not_found".*"name":"c"/);
        server.config.update({ upsert: [cluster("a", 2), cluster("b", 2), cluster("none", 2)] });
        await watching.seen(/"name":"none".*"2s"/);
        await watching.seen(/"name":"a".*"2s"/);
        assert.ok(!/"name":"b".*"2s"/.test(watching.out()), watching.out());
        watching.kill("SIGTERM");
        assert.equal((await watching.ended()).status, 0);
      }));
  }

  it("ends with 0 while its server is away", async () => {
    await using watching = xdskit("watch", "--server", "127.0.0.1:1", "--type", "cluster", "web");
    await watching.seen(/connect ECONNREFUSED/, "err");
    watching.kill("SIGINT");
    assert.equal((await within(watching.ended(), () => "it did not end", 20_000)).status, 0);
  });

  it("waits for a slow reader with little memory, and ends even without a reader", () =>
    withServer(async (server, address) => {
      const statName = "x".repeat(1_000_000);
      const big = (round: number) => ({ ...cluster("big"), altStatName: `${round}${statName}` });
      server.config.set([big(0)]);
      await using watching = xdskit("watch", "--output", "jsonl", "--server", address, "--type", "cluster");
      await watching.seen(/connected/);
      watching.read(false);
      const acknowledged = new Set<string>();
      server.on((event) => {
        if (event.kind === "acknowledged") acknowledged.add(event.version);
      });
      for (let round = 1; round <= 40; round += 1) {
        server.config.set([big(round)]);
        await delay(25);
      }
      // It is held up, and gets the newest once there is room.
      assert.ok(acknowledged.size < 20, `${acknowledged.size} versions were taken`);
      watching.read(true);
      await watching.seen(/"altStatName":"40x/);
      watching.read(false);
      for (let round = 41; round <= 45; round += 1) {
        server.config.set([big(round)]);
        await delay(25);
      }
      watching.kill("SIGTERM");
      // The end of its output is seen only once that is read.
      await eventually(
        async () => isAlive(watching.pid),
        (alive) => !alive,
        20_000,
      );
      watching.read(true);
      assert.equal((await watching.ended()).status, 0);
    }));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
