import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";

export const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const endpoints = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/** Asks for all clusters. */
export function firstRequest(tenant: string): Uint8Array {
  const message = create(DiscoveryRequestSchema, { typeUrl: clusters, node: { id: "n", cluster: tenant } });
  return toBinary(DiscoveryRequestSchema, message);
}

/** Asks for so many endpoints that are not there, with names of its own. */
export function subscription(tenant: string, first: number, names: number): Uint8Array {
  return delta({
    typeUrl: endpoints,
    node: { id: `n${first}`, cluster: tenant },
    resourceNamesSubscribe: Array.from({ length: names }, (_, at) => `${tenant}-${first + at}-`.padEnd(200, "x")),
  });
}

/** Asks for one more, or not any more. */
export function another(name: string, isAsked: boolean): Uint8Array {
  const names = [name];
  return delta({
    typeUrl: endpoints,
    ...(isAsked ? { resourceNamesSubscribe: names } : { resourceNamesUnsubscribe: names }),
  });
}

/** An incremental request. */
export function delta(message: MessageInitShape<typeof DeltaDiscoveryRequestSchema>): Uint8Array {
  return toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, message));
}

/** The body of a poll, which waits until there is something newer than this. */
export function pollOf(tenant: string, version: string): object {
  return { node: { id: "n", cluster: tenant }, version_info: version };
}
