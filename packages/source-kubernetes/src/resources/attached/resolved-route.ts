import { validateMessage } from "@xdskit/api";
import { routeConfiguration } from "@xdskit/api/builders";
import { isService, type MeshRoute, type RouteBackend, type RouteRule } from "../../objects/mesh-route.js";
import { objectKey } from "../../objects/object-shape.js";
import type { KubernetesService } from "../../objects/service.js";
import { portName } from "../names.js";
import { type ResolvedRule, routesOfRule } from "./rule-routes.js";

/** A route, whose rules know the clusters that they lead to. */
export interface ResolvedRoute {
  readonly route: MeshRoute;
  /** Those that can be followed. */
  readonly rules: readonly ResolvedRule[];
  /** What is said about the others. */
  readonly dropped: readonly string[];
  /** Backends that nobody can call. */
  readonly problems: readonly RefProblem[];
}

/** Why a backend cannot be called, in the words of the API. */
export interface RefProblem {
  readonly reason: "InvalidKind" | "BackendNotFound" | "RefNotPermitted";
  readonly message: string;
}

/** What backends are resolved with. */
export interface KnownBackends {
  service(key: string): KubernetesService | undefined;
  /** Whether a grant lets the routes of a kind and a namespace name a Service of another one. */
  isGranted(route: MeshRoute, backend: RouteBackend): boolean;
}

/** Resolves what a route names. A rule that a client would reject is left out: it would take all others with it. */
export function resolveRoute(route: MeshRoute, known: KnownBackends): ResolvedRoute {
  const rules: ResolvedRule[] = [];
  const dropped: string[] = [];
  const problems: RefProblem[] = [];
  route.rules.forEach((rule, index) => {
    const resolved = resolveRule(route, rule, known, problems);
    const faults = rule.faults.length > 0 ? rule.faults : refusals(resolved, `spec.rules[${index}]`);
    if (faults.length === 0) rules.push(resolved);
    else dropped.push(`Rule ${index}: ${faults.join(", ")}`);
  });
  return { route, rules, dropped, problems };
}

function resolveRule(route: MeshRoute, rule: RouteRule, known: KnownBackends, problems: RefProblem[]): ResolvedRule {
  const clusters: Record<string, number> = {};
  let unresolved = 0;
  for (const backend of rule.backends) {
    const found = resolveBackend(route, backend, known);
    if (typeof found === "string") clusters[found] = (clusters[found] ?? 0) + backend.weight;
    else {
      problems.push(found);
      unresolved += backend.weight;
    }
  }
  return { rule, clusters, unresolved };
}

/** The name of its cluster. */
function resolveBackend(route: MeshRoute, backend: RouteBackend, known: KnownBackends): string | RefProblem {
  const { kind, namespace, port } = backend;
  const text = objectKey(backend);
  if (!isService(backend)) return { reason: "InvalidKind", message: `${kind} ${text}: only Services can be backends` };
  if (namespace !== route.namespace && !known.isGranted(route, backend)) {
    const message = `Service ${text}: no ReferenceGrant in ${namespace} allows it to a ${route.kind} of ${route.namespace}`;
    return { reason: "RefNotPermitted", message };
  }
  const service = known.service(text);
  if (service === undefined)
    return { reason: "BackendNotFound", message: `Service ${text}: there is none that is served` };
  if (service.externalName !== undefined)
    return { reason: "InvalidKind", message: `Service ${text}: one of the type ExternalName can be no backend` };
  const found = service.ports.find((one) => one.port === port);
  if (found === undefined)
    return { reason: "BackendNotFound", message: `Service ${text}: it has no port ${port ?? "without a number"}` };
  return portName(service, found);
}

/** Why clients would reject what is made of a rule. */
function refusals(resolved: ResolvedRule, field: string): readonly string[] {
  try {
    const routes = routesOfRule(resolved, {}, "none").map(({ route }) => route);
    const message = routeConfiguration({ name: "r", virtualHosts: [{ name: "r", routes }] });
    return validateMessage(message, { envoy: true }).map(({ message: text }) => `${field}: ${text}`);
  } catch (error) {
    return [`${field}: ${(error as Error).message}`];
  }
}
