import { getOrInsert } from "@xdskit/api";
import type { EndpointSlice, SliceEndpoint } from "../objects/endpoint-slice.js";
import type { Family } from "../objects/object-shape.js";
import type { KubernetesService, ServicePort } from "../objects/service.js";

/** Where a pod answers for a port. */
export interface PodAddress {
  readonly address: string;
  readonly port: number;
}

/** What clients call for a port of a Service: a pod. */
export interface CallableEndpoint {
  readonly zone: string;
  readonly forZones: readonly string[];
  readonly forNodes: readonly string[];
  readonly at: PodAddress;
  /** Of the other family. */
  readonly also: PodAddress | undefined;
}

/** An endpoint of one slice, with the port that it has there. */
interface PodInSlice extends SliceEndpoint {
  readonly family: Family;
  readonly port: number;
}

/**
 * What clients call for a port of a Service, in an order that only the content decides. While some of it is ready, what
 * is ready; otherwise what leaves and still answers: better than nothing.
 */
export function callableEndpoints(
  { family = "IPv4" }: Pick<KubernetesService, "family">,
  port: ServicePort,
  slices: readonly EndpointSlice[],
): readonly CallableEndpoint[] {
  const all = slices.flatMap((slice) => inSlice(slice, port.name));
  const pods = podsOf(all, family);
  const ready = pods.filter(({ state }) => state === "ready");
  const callable = ready.length > 0 ? ready : pods.filter(({ state }) => state === "leaving");
  const sorted = callable
    .map(({ endpoint }) => endpoint)
    .sort((a, b) => order(a.zone, b.zone) || byAddress(a.at, b.at));
  return withoutRepeats(sorted);
}

/** An address goes from one pod to the next, and both may be there for a while. Clients refuse what names one twice. */
function withoutRepeats(endpoints: readonly CallableEndpoint[]): readonly CallableEndpoint[] {
  const seen = new Set<string>();
  const isNew = ({ address, port }: PodAddress) => {
    const key = `${address} ${port}`;
    return !seen.has(key) && seen.add(key);
  };
  return endpoints
    .filter(({ at }) => isNew(at))
    .map((endpoint) =>
      endpoint.also === undefined || isNew(endpoint.also) ? endpoint : { ...endpoint, also: undefined },
    );
}

function inSlice({ family, ports, endpoints }: EndpointSlice, name: string): readonly PodInSlice[] {
  const port = ports.find((one) => one.name === name)?.port;
  return port === undefined ? [] : endpoints.map((endpoint) => ({ ...endpoint, family, port }));
}

interface Pod {
  readonly state: SliceEndpoint["state"];
  readonly endpoint: CallableEndpoint;
}

/** A pod may be in several slices for a while, and has one address of each family. */
function podsOf(all: readonly PodInSlice[], first: Family): readonly Pod[] {
  const found = new Map<string, PodInSlice[]>();
  for (const endpoint of all) {
    const key = endpoint.target ?? `${endpoint.address} ${endpoint.port}`;
    getOrInsert(found, key, () => []).push(endpoint);
  }
  return Array.from(found.values(), (same) => podOf(same, first));
}

/** What two slices say differently is decided by their content, and not by which of them came first. */
function podOf(same: PodInSlice[], first: Family): Pod {
  const best = same.sort(
    (a, b) => order(states.indexOf(a.state), states.indexOf(b.state)) || byAddress(a, b) || order(a.zone, b.zone),
  );
  const main = best.find(({ family }) => family === first) ?? best[0];
  if (main === undefined) throw new Error("no endpoint");
  const other = best.find(({ family, state }) => family !== main.family && state === main.state);
  const { zone, forZones, forNodes } = main;
  const at = ({ address, port }: PodInSlice): PodAddress => ({ address, port });
  return { state: main.state, endpoint: { zone, forZones, forNodes, at: at(main), also: other && at(other) } };
}

const states: readonly SliceEndpoint["state"][] = ["ready", "leaving", "away"];

function byAddress(a: PodAddress, b: PodAddress): number {
  return order(a.address, b.address) || a.port - b.port;
}

/** Not by the language of the machine: equal content must look equal everywhere. */
function order<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
