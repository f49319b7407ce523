import type { Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { createUnpack, type Registry, type ResourceName, resourceTypes } from "@xdskit/api";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { FilterChain } from "@xdskit/api/envoy/config/listener/v3/listener_components";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import {
  type HttpConnectionManager,
  HttpConnectionManagerSchema,
} from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { sourceProblem } from "./config-source.js";

/** The source of an HTTP connection manager's routes. */
export type RouteSource =
  | { readonly kind: "named"; readonly name: ResourceName }
  | { readonly kind: "inline"; readonly name: ResourceName; readonly configuration: RouteConfiguration }
  | { readonly kind: "none"; readonly name: ResourceName; readonly problem: string };

/** The needs of a listener. */
export interface ListenerNeeds {
  /** Routes of one name appear once. */
  readonly routes: readonly { readonly usedBy: readonly string[]; readonly source: RouteSource }[];
  /**
   * Clusters that its filters name, beside routes: a TCP proxy, external authorization … An API listener has none, as
   * in gRPC.
   */
  readonly clusters: readonly ResourceName[];
}

const clusterUrl = resourceTypes.find("cluster")?.typeUrl;

/** Reads a listener: an API listener, or the filter chains of a listener with a socket. */
export function listenerNeeds(listener: Listener, registry: Registry): ListenerNeeds {
  const unpack = createUnpack(registry);
  const managerOf = (any: Any | undefined): HttpConnectionManager | undefined => {
    const content = any === undefined ? undefined : unpack(any);
    return content?.schema.typeName === HttpConnectionManagerSchema.typeName
      ? (content.message as HttpConnectionManager)
      : undefined;
  };
  const routes: { usedBy: string[]; source: RouteSource }[] = [];
  const add = (place: string, manager: HttpConnectionManager | undefined) => {
    if (manager === undefined) return;
    const source = routeSource(manager);
    const same =
      source.kind === "named" && routes.find(({ source: { kind, name } }) => kind === "named" && name === source.name);
    if (same) same.usedBy.push(place);
    else routes.push({ usedBy: [place], source });
  };
  const addChain = (place: string, chain: FilterChain | undefined) => {
    for (const { configType } of chain?.filters ?? [])
      if (configType.case === "typedConfig") add(place, managerOf(configType.value));
  };
  add("api_listener", managerOf(listener.apiListener?.apiListener));
  for (const [index, chain] of listener.filterChains.entries())
    addChain(chain.name || `filter_chains[${index}]`, chain);
  addChain("default_filter_chain", listener.defaultFilterChain);

  // Inline routes name clusters too, but only those of the chosen virtual host count.
  const withoutRoutes = (any: Any) => {
    const content = unpack(any);
    if (content?.schema.typeName !== HttpConnectionManagerSchema.typeName) return content;
    return { schema: content.schema, message: { ...content.message, routeSpecifier: { case: undefined } } as Message };
  };
  const references = resourceTypes
    .find("listener")
    ?.references({ ...listener, apiListener: undefined } as Listener, withoutRoutes);
  const clusters = (references ?? []).filter((named) => named.type === clusterUrl);
  return { routes, clusters: clusters.map(({ name }) => name) };
}

function routeSource({ routeSpecifier }: HttpConnectionManager): RouteSource {
  switch (routeSpecifier.case) {
    case "routeConfig":
      return { kind: "inline", name: routeSpecifier.value.name, configuration: routeSpecifier.value };
    case "rds": {
      const { routeConfigName: name, configSource } = routeSpecifier.value;
      const problem = sourceProblem(configSource);
      return problem === undefined ? { kind: "named", name } : { kind: "none", name, problem: `its source ${problem}` };
    }
    case "scopedRoutes":
      return {
        kind: "none",
        name: routeSpecifier.value.name,
        problem: "scopes choose the routes of each request (SRDS)",
      };
    default:
      return { kind: "none", name: "", problem: "the HTTP connection manager has no routes" };
  }
}
