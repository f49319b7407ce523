import assert from "node:assert/strict";
import { createServer as createTcpServer } from "node:net";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer } from "@xdskit/server";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import { waitFor } from "../testing/wait-for.js";

const cluster = (name: string, content = "") => create(ClusterSchema, { name, altStatName: content });
const backoff = { firstMs: 20, maxMs: 100 };

/** A port on which nobody listens, for a while. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("a client of a server that goes and comes", () => {
  for (const variant of ["sotw", "delta"] as const) {
    for (const aggregated of [true, false]) {
      it(`a client that comes back gets only the differences, ${variant}, ${aggregated ? "ADS" : "per type"}`, async () => {
        const address = `127.0.0.1:${await freePort()}`;
        const client = createClient({
          servers: [{ kind: "grpc", address, variant, aggregated }],
          node: { id: "me" },
          backoff,
        });
        const events: ClientEvent[] = [];
        client.on((event) => events.push(event));
        let last = "";
        const errors: string[] = [];
        const beside: string[] = [];
        const all = new Set<string>();
        client.watch(ClusterSchema, "a", {
          onChanged({ message }) {
            last = message.altStatName;
          },
          onError: ({ code }) => void errors.push(code),
          onAmbient: ({ code }) => void beside.push(code),
        });
        client.watch(ClusterSchema, "*", {
          onChanged({ resources }) {
            all.clear();
            for (const name of resources.keys()) all.add(name);
          },
        });
        try {
          await waitFor("an error", () => errors.length > 0);
          for (let round = 1; round <= 5; round += 1) {
            const server = createServer();
            server.config.set([cluster("a", `${round}`), cluster(`only ${round}`)]);
            await server.listen({ grpc: address });
            await waitFor(`round ${round}`, () => last === `${round}` && all.has(`only ${round}`) && all.size === 2);
            assert.equal(
              server.stats().streams.reduce((sum, { open }) => sum + open, 0),
              1,
            );
            beside.length = 0;
            await server.close({ timeoutMs: 200 });
            await waitFor("it to be noticed", () => beside.length > 0);
          }
          assert.deepEqual([...new Set(errors)], ["XDSKIT_UPSTREAM_AWAY"]);
          const count = (kind: ClientEvent["kind"]) => events.filter((event) => event.kind === kind).length;
          assert.equal(count("connected"), 5);
          assert.equal(count("disconnected"), 5);
          const [failure] = events.flatMap((event) => (event.kind === "failed" ? [event.error.message] : []));
          assert.match(failure ?? "", /^127.0.0.1:\d+: connect ECONNREFUSED 127.0.0.1:\d+ \(code 14\)/);
        } finally {
          await client.close();
        }
      });
    }
  }

  it("a client refuses a response above its limit, and goes on", async () => {
    const server = createServer();
    const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
    server.config.set([cluster("a", "x".repeat(100_000)), cluster("b")]);
    const client = createClient({
      servers: [address],
      node: { id: "me" },
      backoff,
      limits: { responseBytes: 50_000 },
    });
    try {
      await assert.rejects(client.get("cluster", "a"), /larger than max|exceeds|RESOURCE_EXHAUSTED|code 8/i);
      assert.equal((await client.get(ClusterSchema, "b")).message.name, "b");
    } finally {
      await client.close();
      await server.close({ timeoutMs: 200 });
    }
  });
});
