import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer, type XdsServer } from "@xdskit/server";
import { createClient } from "../create-client.js";
import type { GrpcServerSettings } from "../options/client-options.js";
import { waitFor } from "../testing/wait-for.js";

const cluster = (name: string, altStatName = "") => create(ClusterSchema, { name, altStatName });

/** The calls to a watcher of the cluster `b`. */
async function heard(
  settings: Partial<GrpcServerSettings>,
  test: (server: XdsServer, hears: (...expected: readonly string[]) => Promise<void>) => Promise<void>,
): Promise<void> {
  const server = createServer();
  const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({
    servers: [{ kind: "grpc", address, ...settings }],
    node: { id: "me" },
    checks: {
      cluster: (message) => ("altStatName" in message && message.altStatName === "bad" ? "it is bad" : undefined),
    },
  });
  const log: string[] = [];
  try {
    client.watch(ClusterSchema, "b", {
      onChanged: ({ message }) => void log.push(`has ${message.altStatName}`),
      onError: ({ code }) => void log.push(code),
      onAmbient: ({ code }) => void log.push(`beside ${code}`),
    });
    await test(server, async (...expected) => {
      await waitFor(
        () => `${expected} in ${log}`,
        () => log.length >= expected.length,
      );
      assert.deepEqual(log.splice(0), expected);
    });
  } finally {
    await client.close();
    await server.close({ timeoutMs: 500 });
  }
}

for (const variant of ["sotw", "delta"] as const) {
  describe(`errors of the data, ${variant}`, () => {
    it("a client removes a resource that the server removes, and keeps the content from before a rejected update", () =>
      heard({ variant }, async (server, hears) => {
        server.config.set([cluster("a"), cluster("b", "1")]);
        await hears("has 1");
        server.config.update({ upsert: [cluster("b", "bad")] });
        await hears("beside XDSKIT_UPDATE_REJECTED");
        server.config.set([cluster("a")]);
        await hears("XDSKIT_RESOURCE_ABSENT");
      }));

    it("a client keeps a resource that the server removes, if it is set so (A53)", () =>
      heard({ variant, ignoreResourceDeletion: true }, async (server, hears) => {
        server.config.set([cluster("a"), cluster("b", "1")]);
        await hears("has 1");
        server.config.set([cluster("a")]);
        await hears("beside XDSKIT_RESOURCE_FAILING");
        server.config.set([cluster("a"), cluster("b", "1")]);
        await hears("has 1");
      }));

    it("a client drops the content from before a rejected update, if it is set so (A88)", () =>
      heard({ variant, failOnDataErrors: true }, async (server, hears) => {
        server.config.set([cluster("a"), cluster("b", "1")]);
        await hears("has 1");
        server.config.update({ upsert: [cluster("b", "bad")] });
        await hears("XDSKIT_RESOURCE_ABSENT", "XDSKIT_UPDATE_REJECTED");
        server.config.update({ upsert: [cluster("b", "1")] });
        await hears("has 1");
      }));
  });
}
