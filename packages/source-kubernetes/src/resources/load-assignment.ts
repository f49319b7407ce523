import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createResource, type Resource } from "@xdskit/api";
import type { AddressSchema } from "@xdskit/api/envoy/config/core/v3/address";
import { HealthStatus } from "@xdskit/api/envoy/config/core/v3/health_check";
import { type ClusterLoadAssignment, ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { LocalityLbEndpointsSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import type { EndpointSlice } from "../objects/endpoint-slice.js";
import type { KubernetesService, ServicePort } from "../objects/service.js";
import { type CallableEndpoint, callableEndpoints, type PodAddress } from "./callable-endpoints.js";
import { portName } from "./names.js";
import { nearFirst } from "./near-first.js";

/** Where the ports of a Service are answered. Without endpoints it is an empty load assignment: calls fail at once. */
export function loadAssignments(service: KubernetesService, slices: readonly EndpointSlice[]): readonly Resource[] {
  // Its cluster has the name that DNS is asked for.
  if (service.externalName !== undefined) return [];
  return service.ports.flatMap((port) => {
    const clusterName = portName(service, port);
    return nearFirst(service, callableEndpoints(service, port, slices)).map(({ constraints, groups }) =>
      createResource(create(ClusterLoadAssignmentSchema, { clusterName, endpoints: localitiesOf(groups) }), {
        constraints,
      }),
    );
  });
}

/** The assignment of a cluster whose address is a name of DNS. */
export function externalAssignment(clusterName: string, host: string, { port }: ServicePort): ClusterLoadAssignment {
  const address = addressOf({ address: host, port });
  return create(ClusterLoadAssignmentSchema, {
    clusterName,
    endpoints: [{ lbEndpoints: [{ hostIdentifier: { case: "endpoint", value: { address } } }] }],
  });
}

type Locality = MessageInitShape<typeof LocalityLbEndpointsSchema>;

/**
 * A zone has as much of the calls of its group as it has of the pods: each pod gets the same. A part of a zone in a
 * later group has a name of its own, since some clients know a locality only once.
 */
function localitiesOf(groups: readonly (readonly CallableEndpoint[])[]): Locality[] {
  const seen = new Set<string>();
  return groups.flatMap((endpoints, priority) => {
    const zones = new Set(endpoints.map(({ zone }) => zone));
    return Array.from(zones, (zone) => {
      const within = endpoints.filter((endpoint) => endpoint.zone === zone);
      const subZone = seen.has(zone) ? `rest-${priority}` : "";
      seen.add(zone);
      return {
        locality: { zone, subZone },
        priority,
        loadBalancingWeight: within.length,
        lbEndpoints: within.map(endpointOf),
      };
    });
  });
}

function endpointOf({ at, also }: CallableEndpoint): NonNullable<Locality["lbEndpoints"]>[number] {
  const additionalAddresses = also === undefined ? [] : [{ address: addressOf(also) }];
  return {
    healthStatus: HealthStatus.HEALTHY,
    hostIdentifier: { case: "endpoint", value: { address: addressOf(at), additionalAddresses } },
  };
}

function addressOf({ address, port: portValue }: PodAddress): MessageInitShape<typeof AddressSchema> {
  return {
    address: { case: "socketAddress", value: { address, portSpecifier: { case: "portValue", value: portValue } } },
  };
}
