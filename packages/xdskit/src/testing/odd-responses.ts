import { create, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";

export const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A cluster. One with a timeout of zero breaks a rule of its proto. */
export function cluster(name: string, timeoutSeconds = 1) {
  return create(ClusterSchema, { name, connectTimeout: { seconds: BigInt(timeoutSeconds) } });
}

/** The same, as it stands in a response. */
export const packedCluster = (...args: Parameters<typeof cluster>): Any => anyPack(ClusterSchema, cluster(...args));

/** Bytes of any type. */
export const packed = (typeUrl: string, value: Uint8Array): Any => create(AnySchema, { typeUrl, value });

/** A state of the world, whatever is in it. */
export function sotwResponse(version: string, resources: readonly Any[], typeUrl = clusterUrl): Uint8Array {
  const fields = { versionInfo: version, nonce: `n${version}`, typeUrl, resources: [...resources] };
  return toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, fields));
}

/** One resource of an incremental response. */
export interface DeltaEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  /** None: a heartbeat, or an alias without a resource. */
  readonly resource?: Any;
}

export function deltaResponse(
  version: string,
  entries: readonly DeltaEntry[],
  removedResources: readonly string[] = [],
  typeUrl = clusterUrl,
): Uint8Array {
  const resources = entries.map(({ name, aliases = [], ttlMs, resource }) =>
    create(ResourceSchema, {
      name,
      version,
      aliases: [...aliases],
      ...(ttlMs === undefined ? {} : { ttl: { seconds: 0n, nanos: ttlMs * 1e6 } }),
      ...(resource === undefined ? {} : { resource }),
    }),
  );
  const fields = { nonce: `n${version}`, typeUrl, resources, removedResources: [...removedResources] };
  return toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, fields));
}
