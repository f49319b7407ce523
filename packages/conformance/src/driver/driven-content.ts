import { typeUrlOf, typeWord } from "../wire/type-words.js";
import type { DrivenContent } from "./driver.js";

/** Resources by name and content: two contents of a resource differ in a field that every server passes on. */
export interface World {
  /** Cluster by content. Each has endpoints of the same name. */
  readonly clusters: Readonly<Record<string, number>>;
  /** Contents of endpoints that are not 1. */
  readonly endpoints?: Readonly<Record<string, number>>;
  /** Listeners and the routes that they name. */
  readonly listeners: Readonly<Record<string, string>>;
  /** Contents of listeners that are not 1. */
  readonly listenerContents?: Readonly<Record<string, number>>;
  /** Route configurations and the cluster that they lead to. */
  readonly routes: Readonly<Record<string, string>>;
  /** Further resources, by type URL and name. */
  readonly more?: DrivenContent;
}

/** What a driven server has when a check begins. */
export const baseWorld: World = {
  clusters: { a: 1, b: 1, c: 1 },
  listeners: { l: "r", m: "s" },
  routes: { r: "a", s: "b" },
};

const wrapperType = "type.googleapis.com/envoy.service.discovery.v3.Resource";
const ads = { ads: {}, resourceApiVersion: "V3" };
const manager = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
const firstPort = 20_000;

function socketAddress(portValue: number): object {
  return { socketAddress: { address: "127.0.0.1", portValue } };
}

export const clusterOf = (name: string, content: number): object => ({
  name,
  type: "EDS",
  edsClusterConfig: { edsConfig: ads },
  connectTimeout: `${content}s`,
});

export const endpointsOf = (clusterName: string, content: number): object => ({
  clusterName,
  // gRPC's clients reject localities without a name, and ignore those without a weight.
  endpoints: [
    {
      locality: { region: "here" },
      loadBalancingWeight: 1,
      lbEndpoints: [{ endpoint: { address: socketAddress(firstPort + content) } }],
    },
  ],
});

function listenerOf(name: string, routeConfigName: string, content: number): object {
  const typedConfig = {
    "@type": manager,
    statPrefix: `${name}-${content}`,
    rds: { routeConfigName, configSource: ads },
    httpFilters: [{ name: "router", typedConfig: { "@type": router } }],
  };
  // Each listener has a port of its own, whatever other listeners there are.
  const port = firstPort + 1_000 + [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
  return { name, address: socketAddress(port), filterChains: [{ filters: [{ name: "http", typedConfig }] }] };
}

/** A listener for a client without ports, such as gRPC's. Without routes it is wrong. */
export function grpcListener(name: string, routeConfigName: string | undefined): object {
  const httpFilters = [{ name: "router", typedConfig: { "@type": router } }];
  const routes = routeConfigName === undefined ? {} : { rds: { routeConfigName, configSource: ads } };
  return { name, apiListener: { apiListener: { "@type": manager, ...routes, httpFilters } } };
}

const routeOf = (name: string, cluster: string): object => ({
  name,
  virtualHosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster } }] }],
});

function mapped<T>(of: Readonly<Record<string, T>>, to: (name: string, value: T) => object): Record<string, object> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, to(name, value)]));
}

/** A world as a driver is told it. */
export function drivenContent(world: World): DrivenContent {
  const { clusters, endpoints, listeners, listenerContents, routes, more = {} } = world;
  const content: DrivenContent = {
    [typeUrlOf("cluster")]: mapped(clusters, clusterOf),
    [typeUrlOf("endpoint")]: mapped(clusters, (name) => endpointsOf(name, endpoints?.[name] ?? 1)),
    [typeUrlOf("listener")]: mapped(listeners, (name, route) => listenerOf(name, route, listenerContents?.[name] ?? 1)),
    [typeUrlOf("route")]: mapped(routes, routeOf),
  };
  const added = Object.entries(more).map(([type, resources]) => [type, { ...content[type], ...resources }]);
  return { ...content, ...Object.fromEntries(added) };
}

/** A resource with what only its wrapper can say: the name of a message without one, further names, a TTL. */
export function wrapped(
  type: string,
  resource: object,
  about: { name: string; aliases?: string[]; ttl?: string },
): object {
  return { "@type": wrapperType, ...about, resource: { "@type": type, ...resource } };
}

/** A world in a line: `cluster a=1 b=1; endpoint a=2; listener l->r; route r->a`. */
export function worldWords(world: World): string {
  const { clusters, endpoints = {}, listeners, listenerContents = {}, routes, more = {} } = world;
  const words = (word: string, of: Readonly<Record<string, unknown>>, between: string) =>
    Object.keys(of).length === 0 ? [] : [[word, ...Object.entries(of).map((pair) => pair.join(between))].join(" ")];
  const parts = [
    ...words("cluster", clusters, "="),
    ...words("endpoint", endpoints, "="),
    ...words("listener", listeners, "->"),
    ...words("listener", listenerContents, "="),
    ...words("route", routes, "->"),
    ...Object.entries(more).map(([type, resources]) => [typeWord(type), ...Object.keys(resources)].join(" ")),
  ];
  return parts.join("; ") || "nothing";
}
