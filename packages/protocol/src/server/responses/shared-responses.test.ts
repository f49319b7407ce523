import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { emptySnapshot, type Snapshot, updateSnapshot } from "../../model/snapshots/snapshot.js";
import { defaultStreamLimits } from "../contract/limits.js";
import { createStream } from "../stream/stream.js";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ttl = ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"];
const errors = ["xds.config.supports-resource-errors"];

/** Variants of cluster `c`, one for each value of the parameter `env`, each with a TTL. */
function variantsFor(...values: readonly string[]): Snapshot {
  const upsert = values.map((value) =>
    createResource(create(ClusterSchema, { name: "c", altStatName: value }), {
      constraints: { kind: "value", key: "env", value },
      ttl: 10_000,
    }),
  );
  return updateSnapshot(emptySnapshot(), { upsert });
}

/**
 * The clusters that are sent to a client with this value of the parameter `env`: each cluster's value, and whether its
 * TTL is told.
 */
function ask(snapshot: Snapshot, env: string, clientFeatures: string[]): readonly string[] {
  const stream = createStream({
    variant: "sotw",
    api: "v3",
    types: resourceTypes,
    only: undefined,
    limits: defaultStreamLimits,
    defaultNode: undefined,
  });
  const resourceLocators = [{ name: "*", dynamicParameters: { env } }];
  const request = create(DiscoveryRequestSchema, { node: { id: "n", clientFeatures }, typeUrl, resourceLocators });
  stream.step({ kind: "request", bytes: toBinary(DiscoveryRequestSchema, request) });
  stream.step({ kind: "snapshot", snapshot, ttl: "advertised" });
  const response = stream.next();
  assert.ok(response !== undefined);
  return fromBinary(DiscoveryResponseSchema, response.body.bytes).resources.map(({ value }) => {
    const wrapper = fromBinary(ResourceSchema, value);
    const { altStatName }: Cluster = fromBinary(ClusterSchema, wrapper.resource?.value ?? new Uint8Array());
    return wrapper.ttl === undefined ? altStatName : `${altStatName} with a TTL`;
  });
}

test("a client's parameters cannot forge the key of another client's response", () => {
  const afterTtl = variantsFor("prod", "prod ttl");
  assert.deepEqual(ask(afterTtl, "prod ttl", []), ["prod ttl"]);
  assert.deepEqual(ask(afterTtl, "prod", ttl), ["prod with a TTL"]);

  const afterErrors = variantsFor("prod", "prod[[],null]");
  assert.deepEqual(ask(afterErrors, "prod[[],null]", []), ["prod[[],null]"]);
  assert.deepEqual(ask(afterErrors, "prod", errors), ["prod"]);
});
