import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ClusterLoadAssignment, ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { SotwOrDelta } from "@xdskit/protocol";

export const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
export const endpointUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/** A cluster whose content is told apart by a text. */
export function oddCluster(name: string, content = ""): Cluster {
  return create(ClusterSchema, { name, altStatName: content });
}

export function assignment(clusterName: string): ClusterLoadAssignment {
  return create(ClusterLoadAssignmentSchema, { clusterName });
}

export interface OddResponse {
  /** Default: clusters. */
  readonly typeUrl?: string;
  readonly version?: string;
  readonly nonce?: string;
  readonly clusters?: readonly Cluster[];
  readonly assignments?: readonly ClusterLoadAssignment[];
  /** Delta alone. */
  readonly removed?: readonly string[];
}

/** A response as it is on the wire. */
export function responseBytes(variant: SotwOrDelta, response: OddResponse): Uint8Array {
  const { version = "1", nonce = "n", clusters = [], assignments = [], removed = [] } = response;
  const typeUrl = response.typeUrl ?? (assignments.length > 0 ? endpointUrl : clusterUrl);
  const named = [
    ...clusters.map((one) => ({ name: one.name, any: packed(ClusterSchema, one) })),
    ...assignments.map((one) => ({ name: one.clusterName, any: packed(ClusterLoadAssignmentSchema, one) })),
  ];
  if (variant === "sotw") {
    const resources = named.map(({ any }) => any);
    return toBinary(
      DiscoveryResponseSchema,
      create(DiscoveryResponseSchema, { typeUrl, versionInfo: version, nonce, resources }),
    );
  }
  const resources = named.map(({ name, any }) => ({ name, version, resource: any }));
  return toBinary(
    DeltaDiscoveryResponseSchema,
    create(DeltaDiscoveryResponseSchema, {
      typeUrl,
      systemVersionInfo: version,
      nonce,
      resources,
      removedResources: [...removed],
    }),
  );
}

function packed<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>) {
  return anyPack(schema, message);
}
