import type { Constraints } from "@xdskit/api";
import type { EndpointSlice } from "../objects/endpoint-slice.js";
import type { PolicyFault } from "../objects/object-fault.js";
import { failoverAnnotation } from "../objects/policy.js";
import type { KubernetesService } from "../objects/service.js";
import type { CallableEndpoint } from "./callable-endpoints.js";

/** The endpoints of a Service for clients at one place: a later group is called if all before it fail. */
export interface NearFirst {
  /** Undefined: for clients anywhere, and those that do not say where they are. */
  readonly constraints: Constraints | undefined;
  /** None is empty. */
  readonly groups: readonly (readonly CallableEndpoint[])[];
}

/** Each node has a load assignment of its own, with all endpoints: beyond that, its zone has to do. */
const mostNodes = 100;

/** A Service whose wish is followed, and what is not. */
export interface FollowedWish {
  readonly service: KubernetesService;
  readonly faults: readonly PolicyFault[];
}

/** The Service, perhaps with a smaller wish. */
export function followedWish(service: KubernetesService, slices: readonly EndpointSlice[]): FollowedWish {
  const plain = { service, faults: [] };
  if (service.distribution !== "node") return plain;
  const nodes = new Set(slices.flatMap(({ endpoints }) => endpoints.flatMap(({ forNodes }) => forNodes)));
  if (nodes.size <= mostNodes) return plain;
  const message = `its pods are on more than ${mostNodes} nodes: clients prefer their zone`;
  return {
    service: { ...service, distribution: "zone" },
    faults: [{ annotation: service.policy.failover ? failoverAnnotation : "spec.trafficDistribution", message }],
  };
}

/**
 * Whom clients at each place call first. Hints of the slices count if each endpoint has them, as for kube-proxy;
 * otherwise, the zones of the endpoints, if the Service wants that. The first is for clients anywhere.
 */
export function nearFirst(service: KubernetesService, endpoints: readonly CallableEndpoint[]): readonly NearFirst[] {
  const anywhere: NearFirst = { constraints: undefined, groups: endpoints.length === 0 ? [] : [endpoints] };
  const zonesFor = zonesForClients(service, endpoints);
  if (zonesFor === undefined) return [anywhere];
  const isFor = (zone: string) => (endpoint: CallableEndpoint) => zonesFor(endpoint).includes(zone);
  const zones = [...new Set(endpoints.flatMap(zonesFor))].filter((zone) => zone !== "").sort();
  const ofZones = zones.map((zone) => ({
    constraints: { kind: "value", key: "xds.node.locality.zone", value: zone } as const,
    groups: grouped(endpoints, [isFor(zone)]),
  }));
  if (service.distribution !== "node") return [anywhere, ...ofZones];
  const ofNodes = Array.from(nodesOf(endpoints), ([node, zone]) => ({
    // Of several whose constraints hold, the first by their text wins: a list of one goes before one that stands alone.
    constraints: { kind: "all", of: [{ kind: "value", key: "xds.node.locality.sub_zone", value: node }] } as const,
    groups: grouped(endpoints, [isOnNode(node), isFor(zone)]),
  }));
  return [anywhere, ...ofZones, ...ofNodes];
}

/** The zones whose clients call an endpoint first; undefined: nobody has a wish. */
function zonesForClients(
  { distribution }: KubernetesService,
  endpoints: readonly CallableEndpoint[],
): ((endpoint: CallableEndpoint) => readonly string[]) | undefined {
  if (endpoints.length > 0 && endpoints.every(({ forZones }) => forZones.length > 0)) return ({ forZones }) => forZones;
  return distribution === undefined ? undefined : ({ zone }) => [zone];
}

function isOnNode(node: string) {
  return ({ forNodes }: CallableEndpoint) => forNodes.includes(node);
}

/** The nodes whose clients have endpoints of their own, each with the zone of these. */
function nodesOf(endpoints: readonly CallableEndpoint[]): ReadonlyMap<string, string> {
  const nodes = new Map<string, string>();
  for (const { forNodes, zone } of endpoints) for (const node of forNodes) nodes.set(node, nodes.get(node) ?? zone);
  return new Map([...nodes].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Those for which the first condition holds, of the others those for which the second one does, and so on. */
function grouped(
  endpoints: readonly CallableEndpoint[],
  conditions: readonly ((endpoint: CallableEndpoint) => boolean)[],
): NearFirst["groups"] {
  const groups: CallableEndpoint[][] = [...conditions.map(() => []), []];
  for (const endpoint of endpoints) {
    const index = conditions.findIndex((holds) => holds(endpoint));
    groups.at(index)?.push(endpoint);
  }
  return groups.filter((group) => group.length > 0);
}
