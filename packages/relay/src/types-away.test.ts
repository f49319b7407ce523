import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import {
  becomes,
  cluster,
  clusterOf,
  endpoints,
  resourcesOf,
  route,
  see,
  seeOne,
  withStage,
} from "./testing/relayed.js";

/** Stands before an origin that is polled; its polls for endpoints fail when `fails` says so. */
async function withDoor(rest: string, fails: () => boolean, run: (url: string) => Promise<void>): Promise<void> {
  const door: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      if (request.url?.includes("endpoints") === true && fails()) {
        response.writeHead(503).end();
        return;
      }
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`http://${rest}${request.url}`, {
        method: "POST",
        headers,
        body: Buffer.concat(chunks),
      });
      response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  try {
    await run(`http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  } finally {
    door.closeAllConnections();
    door.close();
  }
}

const there = () => "there";

describe("an origin of which only one type is away", () => {
  it("keeps the names of that type that no client asks for any more, and not those of others", () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, rest } = await origin({ rest: { holdMs: 10 } });
      server.config.set(resourcesOf(cluster("a"), endpoints("a", 1), route("r", "a")));
      let isAway = false;
      await withDoor(
        rest,
        () => isAway,
        async (url) => {
          const { relay: relayed, address } = await relay({ kind: "rest", url, refreshDelayMs: 20 }, { lingerMs: 1 });
          const edge = client(address);
          const seen = [seeOne(edge, "endpoint", "a", there), seeOne(edge, "route", "r", there)];
          await becomes(() => seen.map((each) => each()), ["there", "there"]);
          const ended = new Promise<void>((resolve) => {
            relayed.groups[0]?.client.on(({ kind }) => kind === "disconnected" && resolve());
          });
          isAway = true;
          await ended;
          await edge.close();
          await becomes(() => relayed.server.stats().onDemand?.dropped, 2);
          assert.equal(relayed.groups[0]?.standing.isConnected, true);
          const asked = relayed.groups[0]?.client.status().flatMap(({ types }) => types);
          assert.deepEqual(
            asked?.flatMap(({ type, names }) => (type.name === "route" || type.name === "endpoint" ? names : [])),
            ["a"],
          );
          await becomes(seeOne(client(address), "endpoint", "a", there), "there");
        },
      );
    }));

  it("does not make a change wait longer when it comes back again and again", () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, rest } = await origin({ rest: { holdMs: 10 } });
      server.config.set(resourcesOf(cluster("a"), cluster("b"), endpoints("a", 1), route("r", "b")));
      let polls = 0;
      await withDoor(
        rest,
        () => polls++ % 2 === 1,
        async (url) => {
          const { address } = await relay({ kind: "rest", url, refreshDelayMs: 20 }, { holdMs: 1_000 });
          const edge = client(address);
          const clusters = see(edge, "cluster");
          const target = seeOne(edge, "route", "r", clusterOf);
          const ofA = seeOne(edge, "endpoint", "a", there);
          await becomes(() => [clusters.names(), target(), ofA()], ["a,b", "b", "there"]);
          const removed = polls;
          server.config.set(resourcesOf(cluster("a"), endpoints("a", 1), route("r", "b")));
          await becomes(clusters.names, "a");
          assert.ok(polls - removed > 2, "its polls went on");
        },
      );
    }));
});
