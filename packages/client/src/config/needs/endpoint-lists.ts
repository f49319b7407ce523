import { createUnpack, type Registry, type ResourceName, resourceTypes } from "@xdskit/api";
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  type LbEndpoint,
  type LbEndpointCollection,
  LbEndpointSchema,
} from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";

const listUrl = resourceTypes.find("locality-endpoint-collection")?.typeUrl;

/** The lists of endpoints that localities of a load assignment name (gRPC's A95), each once. */
export function listsOf(assignment: ClusterLoadAssignment): readonly ResourceName[] {
  const references = resourceTypes.find("endpoint")?.references(assignment) ?? [];
  return references.filter(({ type }) => type === listUrl).map(({ name }) => name);
}

/** The endpoints in a list. */
export function endpointsOf({ entries }: LbEndpointCollection, registry: Registry): readonly LbEndpoint[] {
  const unpack = createUnpack(registry);
  return entries.flatMap(({ resourceSpecifier: { case: kind, value } }) => {
    const content = kind === "inlineEntry" && value.resource !== undefined ? unpack(value.resource) : undefined;
    return content?.schema.typeName === LbEndpointSchema.typeName ? [content.message as LbEndpoint] : [];
  });
}
