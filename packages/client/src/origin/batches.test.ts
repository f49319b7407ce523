import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createMemoryTransport, createServer } from "@xdskit/server";
import { createClientWith } from "../create-client.js";
import { memoryStreamTransport } from "../testing/memory-stream-transport.js";
import { waitFor } from "../testing/wait-for.js";
import { createStreamUpstream } from "../upstreams/grpc/stream-upstream.js";

const count = 1_000;
const cluster = (index: number, content = "") => create(ClusterSchema, { name: `c${index}`, altStatName: content });
const clusters = (content: string) => Array.from({ length: count }, (_, index) => cluster(index, content));

/** Costs are counted, since times differ from machine to machine. */
describe("a thousand resources that are watched", () => {
  for (const variant of ["sotw", "delta"] as const) {
    for (const aggregated of [true, false]) {
      it(`a thousand resources cost the number of changes, and one batch, ${variant}, ${aggregated ? "ADS" : "per type"}`, async () => {
        const server = createServer();
        const transport = createMemoryTransport();
        await server.listenOn(transport, "here");
        server.config.set(clusters("1"));
        let read = 0;
        const client = createClientWith(
          {
            servers: ["here"],
            node: { id: "me" },
            validate: false,
            checks: {
              cluster() {
                read += 1;
                return undefined;
              },
            },
          },
          (_, context, sink) => {
            const streams = memoryStreamTransport(transport, "here");
            return createStreamUpstream(
              { server: "here", variant, api: "v3", aggregated, transport: streams },
              context,
              sink,
            );
          },
        );
        try {
          const seen = new Map<string, string>();
          let calls = 0;
          let batches = 0;
          for (let index = 0; index < count; index += 1) {
            client.watch(ClusterSchema, `c${index}`, {
              onChanged({ name, message }) {
                calls += 1;
                seen.set(name, message.altStatName);
              },
            });
          }
          client.on(({ kind }) => {
            if (kind === "updated") batches += 1;
          });
          const all = (content: string) => seen.size === count && [...seen.values()].every((each) => each === content);
          await waitFor("all", () => all("1"));
          assert.deepEqual([batches, read, calls], [1, count, count]);
          server.config.update({ upsert: [cluster(7, "2")] });
          await waitFor("the one", () => seen.get("c7") === "2");
          assert.deepEqual([batches, read, calls], [2, count + 1, count + 1]);
          server.config.set(clusters("3"));
          await waitFor("all again", () => all("3"));
          assert.deepEqual([batches, read, calls], [3, 2 * count + 1, 2 * count + 1]);
        } finally {
          await client.close();
          await server.close({ timeoutMs: 200 });
        }
      });
    }
  }
});
