import { canonicalName, type Finding, type ResourceName, XdskitError } from "@xdskit/api";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { ReceivedResource } from "@xdskit/protocol";
import type { ConfigRoutes, XdsConfig } from "../../contract/xds-config.js";
import type { AskLeaf } from "../leaf.js";
import type { RouteSource } from "../needs/listener-needs.js";
import type { Needs } from "../needs/needs.js";
import { unresolved } from "../problem.js";
import { resolveClusters } from "./resolve-clusters.js";
import { kept } from "./same.js";
import { virtualHostFor } from "./virtual-host.js";

/** The configuration that a listener leads to, as far as it is known. */
export type Outcome =
  /** Something is still on its way. */
  | { readonly kind: "waiting" }
  | { readonly kind: "error"; readonly error: XdskitError }
  | { readonly kind: "config"; readonly config: XdsConfig };

/** The listener to resolve. */
export interface Question {
  readonly listener: ResourceName;
  readonly authority: string | undefined;
  /** Clusters that belong to the configuration even if no route names them. */
  readonly subscribed: Iterable<ResourceName>;
}

/**
 * Follows the names from a listener. Asks for the needed resources and nothing else; parts that did not change stay the
 * same objects.
 */
export function resolve(question: Question, ask: AskLeaf, needs: Needs, before: XdsConfig | undefined): Outcome {
  const subscribed = [...question.subscribed].map(canonicalName);
  const listener = ask("listener", question.listener);
  const inListener = listener.kind === "here" ? needs.ofListener(listener.resource.message) : undefined;
  const found = (inListener?.routes ?? []).map(({ usedBy, source }) => routesOf(usedBy, source, question, ask, needs));
  const routes = found.filter((routes) => routes !== undefined);
  const isBroken = routes.length > 0 && routes.length === found.length && routes.every(({ kind }) => kind === "error");
  const named = routes.flatMap((routes) => (routes.kind === "routes" ? routes.clusters : []));
  // Without a usable configuration, only the subscribed clusters are still asked for.
  const roots = isBroken ? subscribed : [...(inListener?.clusters ?? []), ...named, ...subscribed];
  const clusters = resolveClusters(roots, ask, needs, before?.clusters);

  if (listener.kind === "error") return { kind: "error", error: listener.error };
  if (isBroken) return { kind: "error", error: allOf(routes) };
  if (listener.kind === "waiting" || routes.length < found.length || clusters === undefined) return { kind: "waiting" };
  const used = routes.map((routes, index) => kept(before?.routes[index], routes));
  const first = used.find((routes) => routes.kind === "routes");
  return {
    kind: "config",
    config: {
      listener: listener.resource,
      routes: kept(before?.routes, used),
      routeConfiguration: first?.configuration,
      virtualHost: first?.virtualHost,
      clusters: isSameMap(before?.clusters, clusters) ? before.clusters : clusters,
    },
  };
}

function routesOf(
  usedBy: readonly string[],
  source: RouteSource,
  { listener, authority }: Question,
  ask: AskLeaf,
  needs: Needs,
): ConfigRoutes | undefined {
  const { name } = source;
  if (source.kind === "none") {
    const field = usedBy[0];
    return { kind: "error", usedBy, name, error: unresolved(source.problem, "listener", listener, field) };
  }
  let configuration: RouteConfiguration;
  let resource: ReceivedResource<RouteConfiguration> | undefined;
  if (source.kind === "inline") configuration = source.configuration;
  else {
    const state = ask("route", canonicalName(name));
    if (state.kind === "waiting") return undefined;
    if (state.kind === "error") return { kind: "error", usedBy, name, error: state.error };
    resource = state.resource;
    configuration = resource.message;
  }
  const virtualHost = authority === undefined ? undefined : virtualHostFor(configuration.virtualHosts, authority);
  if (authority !== undefined && virtualHost === undefined) {
    const error = unresolved(`no virtual host serves the authority ${JSON.stringify(authority)}`, "route", name);
    return { kind: "error", usedBy, name, error };
  }
  const { clusters, plugins, clusterHeaders } = needs.ofRoutes(configuration, virtualHost);
  const hasOnDemandHosts = configuration.vhds !== undefined;
  return {
    kind: "routes",
    usedBy,
    name,
    resource,
    configuration,
    virtualHost,
    clusters,
    plugins,
    clusterHeaders,
    hasOnDemandHosts,
  };
}

function allOf(routes: readonly ConfigRoutes[]): XdskitError {
  const errors = routes.flatMap((routes) => (routes.kind === "error" ? [routes.error] : []));
  if (errors.length === 1 && errors[0] !== undefined) return errors[0];
  const [first, ...others] = errors.flatMap(({ findings }) => findings);
  return new XdskitError([first as Finding, ...others]);
}

function isSameMap<Value>(
  a: ReadonlyMap<string, Value> | undefined,
  b: ReadonlyMap<string, Value>,
): a is ReadonlyMap<string, Value> {
  if (a?.size !== b.size) return false;
  for (const [key, value] of b) if (a.get(key) !== value) return false;
  return true;
}
