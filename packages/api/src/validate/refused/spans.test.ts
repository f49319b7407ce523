import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { readResources } from "../../files/resource-file.js";

/** The findings about a cluster in a binary file: JSON has no form for such durations. */
function said(seconds: bigint, nanos: number): readonly string[] {
  const cluster = create(ClusterSchema, {
    name: "a",
    connectTimeout: { seconds: 1n },
    dnsRefreshRate: { seconds, nanos },
  });
  const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const resource = create(AnySchema, { typeUrl, value: toBinary(ClusterSchema, cluster) });
  const bytes = toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, { typeUrl, resources: [resource] }));
  return readResources({ path: "a.pb", bytes }).findings.map(({ code, field }) => `${code} ${field}`);
}

test("An invalid duration that only bytes can hold is refused", () => {
  for (const [seconds, nanos] of [
    [1n, 1_000_000_000],
    [1n, -1],
    [315_576_000_001n, 0],
  ] as const)
    assert.deepEqual(said(seconds, nanos), ["XDSKIT_CLIENTS_REFUSE dns_refresh_rate"], `${seconds} ${nanos}`);
  assert.deepEqual(said(1n, 999_999_999), []);
  assert.deepEqual(said(315_576_000_000n, 0), []);
});
