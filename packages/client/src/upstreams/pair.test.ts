import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { createServer, type XdsServer } from "@xdskit/server";
import type { XdsClient } from "../contract/xds-client.js";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ClientOptions, GrpcServerSettings } from "../options/client-options.js";
import { waitFor } from "../testing/wait-for.js";

const cluster = (name: string, content = "") => create(ClusterSchema, { name, altStatName: content });
const endpoints = (clusterName: string) => create(ClusterLoadAssignmentSchema, { clusterName });

interface Tools {
  readonly server: XdsServer;
  readonly client: XdsClient;
  readonly events: ClientEvent[];
}

async function withPair(
  settings: Partial<GrpcServerSettings>,
  test: (tools: Tools) => Promise<void>,
  more: Partial<ClientOptions> = {},
): Promise<void> {
  const server = createServer();
  const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({ servers: [{ kind: "grpc", address, ...settings }], node: { id: "me" }, ...more });
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  try {
    await test({ server, client, events });
  } finally {
    await client.close();
    await server.close({ timeoutMs: 500 });
  }
}

for (const api of ["v3", "v2"] as const) {
  for (const variant of ["sotw", "delta"] as const) {
    for (const aggregated of [true, false]) {
      describe(`client and server, ${variant}, ${aggregated ? "ADS" : "per type"}, ${api}`, () => {
        const pair = (test: (tools: Tools) => Promise<void>, more?: Partial<ClientOptions>) =>
          withPair({ api, variant, aggregated }, test, more);

        it("a client gets resources, and is told of changes and removals", () =>
          pair(async ({ server, client, events }) => {
            server.config.set([cluster("a"), cluster("b"), endpoints("a")]);
            const got = await client.get(ClusterSchema, "a");
            assert.equal(got.message.name, "a");
            const log: string[] = [];
            client.watch(ClusterSchema, "a", {
              onChanged: ({ message }) => void log.push(`a ${message.altStatName}`),
              onError: ({ code }) => void log.push(code),
            });
            client.watch(ClusterSchema, "*", {
              onChanged: ({ resources, upserted, removed }) =>
                void log.push(`* ${[...resources.keys()].sort()} +${upserted.map(({ name }) => name)} -${removed}`),
            });
            await waitFor("both", () => log.length === 2);
            const first = await client.get(ClusterLoadAssignmentSchema, "a");
            assert.equal(first.message.clusterName, "a");
            log.length = 0;
            server.config.update({ upsert: [cluster("a", "new")] });
            await waitFor("the change", () => log.length === 2);
            assert.deepEqual(log.sort(), ["* a,b +a -", "a new"]);
            log.length = 0;
            server.config.set([cluster("b"), endpoints("a")]);
            await waitFor("the removal", () => log.length === 2);
            assert.deepEqual(log.sort(), ["* b + -a", "XDSKIT_RESOURCE_ABSENT"]);
            assert.equal(events.filter(({ kind }) => kind === "connected").length, aggregated ? 1 : 2);
            assert.deepEqual(
              events.filter(({ kind }) => kind === "failed" || kind === "disconnected" || kind === "rejected"),
              [],
            );
          }));

        it("a client says after a while that a name does not exist", () =>
          pair(
            async ({ server, client }) => {
              server.config.set([cluster("a")]);
              await assert.rejects(client.get("cluster", "none"), (error) => {
                assert.ok(error instanceof XdskitError);
                return error.code === "XDSKIT_RESOURCE_ABSENT";
              });
            },
            { absentAfterMs: 300 },
          ));

        it("a client rejects a resource that breaks a rule, keeps its old content, and takes the good resources", () =>
          pair(
            async ({ server, client, events }) => {
              server.config.set([cluster("a")]);
              const log: string[] = [];
              client.watch(ClusterSchema, "a", {
                onChanged: ({ message }) => void log.push(`a ${message.altStatName}`),
                onError: ({ code }) => void log.push(code),
                onAmbient: ({ code }) => void log.push(`beside ${code}`),
              });
              await waitFor("the first", () => log.length === 1);
              server.config.update({ upsert: [cluster("a", "bad")] });
              await waitFor("the rejection", () => log.length === 2);
              server.config.update({ upsert: [cluster("a", "good")] });
              await waitFor("the good one", () => log.length === 3);
              assert.deepEqual(log, ["a ", "beside XDSKIT_UPDATE_REJECTED", "a good"]);
              assert.equal(events.filter(({ kind }) => kind === "rejected").length, 1);
            },
            {
              checks: {
                cluster: (message) =>
                  "altStatName" in message && message.altStatName === "bad" ? "it is bad" : undefined,
              },
            },
          ));
      });
    }
  }
}
