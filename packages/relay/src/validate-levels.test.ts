import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, type Finding, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ValidateLevel } from "@xdskit/client";
import { becomes, see, withStage } from "./testing/relayed.js";

/** Rules forbid a timeout of nothing; whatever the origin's clients make of it, it is a cluster. */
const timeless = (name: string) =>
  createResource(create(ClusterSchema, { name, connectTimeout: { seconds: 0n, nanos: 0 } }));

const clusterType = resourceTypes.find("cluster")!;
const none: readonly Finding[] = [];

describe("the validate level of a relay", () => {
  for (const validate of [undefined, "types", "off"] as const) {
    it(`lets resources pass that break the rules, also after a restart: ${validate}`, () =>
      withStage(async ({ origin, relay, client, directory, findings }) => {
        const { server, address } = await origin();
        server.config.set([timeless("a"), createResource(create(ClusterSchema, { name: "b" }))]);
        const cache = join(directory, "cache");
        const options = { cache, ...(validate === undefined ? {} : { validate }) };
        const relayed = await relay({ kind: "grpc", address }, options);
        const lenient = { validate: "types" } as const;
        const rest = { kind: "rest", url: `http://${relayed.rest}`, refreshDelayMs: 50 } as const;
        for (const edge of [client(relayed.address, lenient), client("", { ...lenient, servers: [rest] })]) {
          await becomes(see(edge, "cluster").names, "a,b");
        }
        await becomes(see(client(relayed.address), "cluster").names, "b");
        await relayed.relay.close({ timeoutMs: 200 });
        await server.close({ timeoutMs: 200 });
        const again = await relay({ kind: "grpc", address }, options);
        await becomes(see(client(again.address, lenient), "cluster").names, "a,b");
        assert.deepEqual(findings, none);
      }));
  }

  it("rejects them if it is asked to, and serves the rest", () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, address } = await origin();
      server.config.set([timeless("a"), createResource(create(ClusterSchema, { name: "b" }))]);
      const validate: ValidateLevel = "full";
      const relayed = await relay({ kind: "grpc", address }, { validate });
      await becomes(see(client(relayed.address, { validate: "types" }), "cluster").names, "b");
      const [group] = relayed.relay.groups;
      const status = group?.client.status()[0]?.types.find(({ type }) => type === clusterType);
      assert.match(status?.rejection("a")?.message ?? "", /^connect_timeout: /);
    }));
});
