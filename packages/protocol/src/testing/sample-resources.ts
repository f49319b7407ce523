import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { anyPack, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource, type TypeUrl, typeUrlPrefix } from "@xdskit/api";
import {
  Cluster_DiscoveryType,
  ClusterCollectionSchema,
  ClusterSchema,
} from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { TypedExtensionConfigSchema } from "@xdskit/api/envoy/config/core/v3/extension";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { LbEndpointCollectionSchema, LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { ListenerCollectionSchema, ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { type VirtualHost, VirtualHostSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import { ScopedRouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/scoped_route";
import { ClusterConfigSchema } from "@xdskit/api/envoy/extensions/clusters/aggregate/v3/cluster";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import {
  ClusterActionSchema,
  MatcherClusterSpecifierSchema,
} from "@xdskit/api/envoy/extensions/router/cluster_specifiers/matcher/v3/matcher";
import { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { RuntimeSchema } from "@xdskit/api/envoy/service/runtime/v3/rtds";
import { readConstraints, splitBraces } from "./variant-words.js";

/**
 * One resource's content in the words of a transcript: a label, and the names it refers to: `1`, `1->x`, `1->x,y`.
 * Aliases follow, each behind an `@`, and at the end a TTL: `1~10s`. The message carries neither. A cluster without
 * `->` refers to the load assignment of its own name; `->static` makes it one without a load assignment. A route
 * configuration with `->vhds` has its virtual hosts asked for one by one.
 */
export type Content = string;

interface Said {
  /** Undefined if the message has no own name. */
  readonly name: string | undefined;
  readonly content: Content;
}

interface Sample {
  readonly url: TypeUrl;
  readonly v2Url: TypeUrl | undefined;
  readonly resource: (name: string, content: Content) => Resource;
  readonly read: (body: Uint8Array) => Said;
}

/** `1.5s`, as durations are written in a transcript. */
export function millisecondsOf(seconds: string): number {
  const [, number] = /^(\d+(?:\.\d+)?)s$/.exec(seconds) ?? [];
  if (number === undefined) throw new Error(`a duration is written 1.5s, not ${seconds}`);
  return Number(number) * 1000;
}

/** Two steps, so that the compiler knows the message when it reads the functions. */
function sample<Desc extends DescMessage>(schema: Desc, v2Name: string | undefined) {
  return (
    build: (name: string, label: string, refers: readonly string[]) => MessageInitShape<Desc>,
    read: (
      message: MessageShape<Desc>,
    ) => readonly [name: string | undefined, label: string | undefined, refers?: readonly string[]],
  ): Sample => ({
    url: `${typeUrlPrefix}${schema.typeName}`,
    v2Url: v2Name === undefined ? undefined : `${typeUrlPrefix}${v2Name}`,
    resource: (word, content) => {
      const [name, braces] = splitBraces(word);
      const [carried = "", ttl] = content.split("~");
      const [said = "", ...aliases] = carried.split("@");
      const [label = "", refers] = said.split("->");
      const message = create(schema, build(name, label, refers === undefined ? [] : refers.split(",")));
      const milliseconds = ttl === undefined ? undefined : millisecondsOf(ttl);
      return createResource(message, { name, aliases, ttl: milliseconds, constraints: readConstraints(braces) });
    },
    read: (body) => {
      const [name, label, refers = []] = read(fromBinary(schema, body));
      return { name, content: refers.length === 0 ? (label ?? "") : `${label ?? ""}->${refers.join(",")}` };
    },
  });
}

const cluster = sample(ClusterSchema, "envoy.api.v2.Cluster")(
  (name, altStatName, [refers]) => {
    if (refers === "static")
      return { name, altStatName, clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.STATIC } };
    if (refers?.startsWith(inner) === true) {
      const address = {
        case: "envoyInternalAddress",
        value: { addressNameSpecifier: { case: "serverListenerName", value: refers.slice(inner.length) } },
      } as const;
      const hostIdentifier = { case: "endpoint", value: { address: { address } } } as const;
      const loadAssignment = { clusterName: name, endpoints: [{ lbEndpoints: [{ hostIdentifier }] }] };
      return { name, altStatName, loadAssignment };
    }
    if (refers?.startsWith(of) === true) {
      const config = create(ClusterConfigSchema, { clusters: [refers.slice(of.length)] });
      const value = { name: "aggregate", typedConfig: anyPack(ClusterConfigSchema, config) };
      return { name, altStatName, clusterDiscoveryType: { case: "clusterType", value } };
    }
    return {
      name,
      altStatName,
      clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
      edsClusterConfig: {
        edsConfig: { configSourceSpecifier: { case: "ads", value: {} } },
        serviceName: refers ?? "",
      },
    };
  },
  (message) => {
    const { edsClusterConfig: eds, clusterDiscoveryType: kind } = message;
    const host = message.loadAssignment?.endpoints[0]?.lbEndpoints[0]?.hostIdentifier;
    const address = host?.case === "endpoint" ? host.value.address?.address : undefined;
    if (address?.case === "envoyInternalAddress")
      return [message.name, message.altStatName, [`${inner}${address.value.addressNameSpecifier.value}`]];
    if (kind.case === "clusterType" && kind.value.typedConfig !== undefined) {
      const { clusters } = fromBinary(ClusterConfigSchema, kind.value.typedConfig.value);
      return [message.name, message.altStatName, clusters.map((member) => `${of}${member}`)];
    }
    const refers = eds === undefined ? ["static"] : eds.serviceName === "" ? [] : [eds.serviceName];
    return [message.name, message.altStatName, refers];
  },
);

/** Before the name of a listener: the cluster's endpoint leads to that internal listener. */
const inner = "inner:";

/** Before the name of a cluster: a cluster is an aggregate of it. */
const of = "of:";

/**
 * The label is the region of its localities: one, or one for each collection that it refers to. `none` is a load
 * assignment without endpoints.
 */
const endpoint = sample(ClusterLoadAssignmentSchema, "envoy.api.v2.ClusterLoadAssignment")(
  (clusterName, region, refers) => {
    if (refers.length === 0) return { clusterName, endpoints: region === "none" ? [] : [{ locality: { region } }] };
    const ledsConfig = { configSourceSpecifier: { case: "self" as const, value: {} } };
    const endpoints = refers.map((ledsCollectionName) => ({
      locality: { region },
      lbConfig: { case: "ledsClusterLocalityConfig" as const, value: { ledsConfig, ledsCollectionName } },
    }));
    return { clusterName, endpoints };
  },
  ({ clusterName, endpoints }) => [
    clusterName,
    endpoints[0]?.locality?.region ?? "none",
    endpoints.flatMap(({ lbConfig: { case: kind, value } }) =>
      kind === "ledsClusterLocalityConfig" ? [value.ledsCollectionName] : [],
    ),
  ],
);

const listener = sample(ListenerSchema, "envoy.api.v2.Listener")(
  (name, statPrefix, routes) => ({
    name,
    statPrefix,
    filterChains: routes.map((named) => ({
      filters: [
        {
          name: "hcm",
          configType: {
            case: "typedConfig" as const,
            value: anyPack(
              HttpConnectionManagerSchema,
              create(HttpConnectionManagerSchema, { routeSpecifier: routesOf(named) }),
            ),
          },
        },
      ],
    })),
  }),
  (message) => [
    message.name,
    message.statPrefix,
    message.filterChains.map((chain) => {
      const config = chain.filters[0]?.configType;
      if (config?.case !== "typedConfig") return "?";
      const { routeSpecifier } = fromBinary(HttpConnectionManagerSchema, config.value.value);
      if (routeSpecifier.case === "routeConfig") return `${inline}${clusterOf(routeSpecifier.value.virtualHosts[0])}`;
      return routeSpecifier.case === "rds" ? routeSpecifier.value.routeConfigName : "?";
    }),
  ],
);

/** Before the name of a cluster: the listener holds the routes to it. */
const inline = "inline:";

function routesOf(named: string) {
  if (named.startsWith(inline)) {
    const virtualHosts = [hostTo(named.slice(inline.length), 0)];
    return { case: "routeConfig", value: { virtualHosts } } as const;
  }
  const configSource = { configSourceSpecifier: { case: "ads", value: {} } } as const;
  return { case: "rds", value: { routeConfigName: named, configSource } } as const;
}

const route = sample(RouteConfigurationSchema, "envoy.api.v2.RouteConfiguration")(
  (name, label, clusters) => ({
    name,
    internalOnlyHeaders: [label],
    ...(clusters.includes("vhds")
      ? { vhds: { configSource: { configSourceSpecifier: { case: "ads" as const, value: {} } } } }
      : {}),
    virtualHosts: others(clusters).map(hostTo),
  }),
  (message) => [
    message.name,
    message.internalOnlyHeaders[0],
    [...message.virtualHosts.map(clusterOf), ...(message.vhds === undefined ? [] : ["vhds"])],
  ],
);

function others(clusters: readonly string[]): readonly string[] {
  return clusters.filter((name) => name !== "vhds");
}

function hostTo(cluster: string, index: number) {
  return {
    name: `host-${index}`,
    domains: [`host-${index}`],
    routes: [
      {
        match: { pathSpecifier: { case: "prefix" as const, value: "/" } },
        action: { case: "route" as const, value: { clusterSpecifier: specifierOf(cluster) } },
      },
    ],
  };
}

/** Before the name of a cluster: a matcher's action names it, and not the route. */
const matched = "matched:";

function specifierOf(cluster: string) {
  if (!cluster.startsWith(matched)) return { case: "cluster", value: cluster } as const;
  const action = create(ClusterActionSchema, { cluster: cluster.slice(matched.length) });
  const onMatch = {
    case: "action" as const,
    value: { name: "cluster", typedConfig: anyPack(ClusterActionSchema, action) },
  };
  const matcher = create(MatcherClusterSpecifierSchema, { clusterMatcher: { onNoMatch: { onMatch } } });
  const extension = { name: "matcher", typedConfig: anyPack(MatcherClusterSpecifierSchema, matcher) };
  return { case: "inlineClusterSpecifierPlugin", value: { extension } } as const;
}

function clusterOf(host: VirtualHost | undefined): string {
  const action = host?.routes[0]?.action;
  const specifier = action?.case === "route" ? action.value.clusterSpecifier : undefined;
  if (specifier?.case !== "inlineClusterSpecifierPlugin") return String(specifier?.value ?? "?");
  const plugin = specifier.value.extension?.typedConfig;
  const { clusterMatcher } = fromBinary(MatcherClusterSpecifierSchema, plugin?.value ?? new Uint8Array());
  const onMatch = clusterMatcher?.onNoMatch?.onMatch;
  const named = onMatch?.case === "action" ? onMatch.value.typedConfig?.value : undefined;
  return `${matched}${fromBinary(ClusterActionSchema, named ?? new Uint8Array()).cluster}`;
}

const scopedRoute = sample(ScopedRouteConfigurationSchema, "envoy.api.v2.ScopedRouteConfiguration")(
  (name, label, [routeConfigurationName = "default"]) => ({
    name,
    routeConfigurationName,
    key: { fragments: [{ type: { case: "stringKey", value: label } }] },
  }),
  (message) => [
    message.name,
    message.key?.fragments[0]?.type.value,
    message.routeConfigurationName === "default" ? [] : [message.routeConfigurationName],
  ],
);

const virtualHost = sample(VirtualHostSchema, "envoy.api.v2.route.VirtualHost")(
  (name, label) => ({ name, domains: [label] }),
  (message) => [message.name, message.domains[0]],
);

const secret = sample(SecretSchema, "envoy.api.v2.auth.Secret")(
  (name, value) => ({
    name,
    type: {
      case: "genericSecret",
      value: { secret: { specifier: { case: "inlineString", value } } },
    },
  }),
  (message) => [
    message.name,
    message.type.case === "genericSecret" ? String(message.type.value.secret?.specifier.value) : "?",
  ],
);

const runtime = sample(RuntimeSchema, "envoy.service.discovery.v2.Runtime")(
  (name, label) => ({ name, layer: { label } }),
  (message) => [message.name, String(message.layer?.label)],
);

const extension = sample(TypedExtensionConfigSchema, undefined)(
  (name, value) => ({ name, typedConfig: anyPack(StringValueSchema, create(StringValueSchema, { value })) }),
  (message) => [
    message.name,
    message.typedConfig === undefined ? "?" : fromBinary(StringValueSchema, message.typedConfig.value).value,
  ],
);

const lbEndpoint = sample(LbEndpointSchema, undefined)(
  (_name, value) => ({ hostIdentifier: { case: "endpointName", value } }),
  (message) => [undefined, message.hostIdentifier.case === "endpointName" ? message.hostIdentifier.value : "?"],
);

/** The label is the name of the listener in it; its references are locators. */
const listenerCollection = sample(ListenerCollectionSchema, undefined)(
  (_name, name, locators) => ({
    entries: [
      { resourceSpecifier: { case: "inlineEntry", value: { name, version: name } } },
      ...locators.map((id) => ({
        resourceSpecifier: {
          case: "locator" as const,
          value: { id, resourceType: "envoy.config.listener.v3.Listener" },
        },
      })),
    ],
  }),
  ({ entries: [first, ...more] }) => [
    undefined,
    first?.resourceSpecifier.case === "inlineEntry" ? first.resourceSpecifier.value.name : "?",
    more.map(({ resourceSpecifier: { case: kind, value } }) => (kind === "locator" ? value.id : "?")),
  ],
);

/** Holds one entry only, whatever its name says. */
const clusterCollection = sample(ClusterCollectionSchema, undefined)(
  (_name, name) => ({ entries: { resourceSpecifier: { case: "inlineEntry", value: { name, version: name } } } }),
  ({ entries }) => [
    undefined,
    entries?.resourceSpecifier.case === "inlineEntry" ? entries.resourceSpecifier.value.name : "?",
  ],
);

/** Holds one entry, or none if the label is `none`. */
const lbEndpointCollection = sample(LbEndpointCollectionSchema, undefined)(
  (_name, name) => ({
    entries: name === "none" ? [] : [{ resourceSpecifier: { case: "inlineEntry", value: { name, version: name } } }],
  }),
  ({ entries: [first] }) => [
    undefined,
    first?.resourceSpecifier.case === "inlineEntry" ? first.resourceSpecifier.value.name : "none",
  ],
);

/** The types in transcripts, by the word for each. The URLs come from the protocol, not from the code under test. */
const samples: { readonly [word: string]: Sample } = {
  cluster,
  endpoint,
  listener,
  route,
  "scoped-route": scopedRoute,
  "virtual-host": virtualHost,
  secret,
  runtime,
  extension,
  "lb-endpoint": lbEndpoint,
  "lb-endpoint-collection": lbEndpointCollection,
  "cluster-collection": clusterCollection,
  "listener-collection": listenerCollection,
};

const byUrl = new Map<string, { readonly word: string; readonly sample: Sample; readonly api: "v2" | "v3" }>();
for (const [word, one] of Object.entries(samples)) {
  byUrl.set(one.url, { word, sample: one, api: "v3" });
  if (one.v2Url !== undefined) byUrl.set(one.v2Url, { word, sample: one, api: "v2" });
}

/** All the words for types. */
export const typeWords: readonly string[] = Object.keys(samples);

function find(word: string): Sample {
  const found = samples[word];
  if (found === undefined) throw new Error(`no such type: ${JSON.stringify(word)} (known: ${typeWords.join(", ")})`);
  return found;
}

/** The type URL of a type in one API version. */
export function urlOf(word: string, api: "v2" | "v3"): TypeUrl {
  const { url, v2Url } = find(word);
  if (api === "v3") return url;
  if (v2Url === undefined) throw new Error(`${word} has no v2 type URL`);
  return v2Url;
}

/** The word and the API version of a type URL; undefined for one that is not known. */
export function wordOf(typeUrl: string): { readonly word: string; readonly api: "v2" | "v3" } | undefined {
  return byUrl.get(typeUrl);
}

const made = new Map<string, Resource>();

/** A small resource of a type; the same object for the same words. */
export function sampleResource(word: string, name: string, content: Content): Resource {
  const key = `${word} ${name}=${content}`;
  let resource = made.get(key);
  if (resource === undefined) {
    resource = find(word).resource(name, content);
    made.set(key, resource);
  }
  return resource;
}

/** The words for a body of a type URL: the inverse of `sampleResource`. */
export function readSample(typeUrl: string, body: Uint8Array): Said {
  const known = byUrl.get(typeUrl);
  if (known === undefined) throw new Error(`a resource of an unexpected type: ${typeUrl}`);
  return known.sample.read(body);
}
