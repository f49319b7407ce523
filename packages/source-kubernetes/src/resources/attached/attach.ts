import { getOrInsert } from "@xdskit/api";
import type { RouteOption } from "@xdskit/api/builders";
import type { MeshRoute, RouteParent } from "../../objects/mesh-route.js";
import { objectKey } from "../../objects/object-shape.js";
import type { KubernetesService } from "../../objects/service.js";
import { portName, unresolvedName } from "../names.js";
import type { ResolvedRoute } from "./resolved-route.js";
import type { ParentVerdict, RouteVerdict } from "./route-status.js";
import { type RankedRoute, routesOfRule } from "./rule-routes.js";

/** What routes make of the calls of a Service, and what their status says of it. */
export interface Attachment {
  /** By the number of the port. One without an entry has no routes: it goes on with what is usual. */
  readonly ports: ReadonlyMap<number, readonly RouteOption[]>;
  readonly verdicts: readonly AttachedVerdict[];
}

/** What is said of a route with one of its parents. */
export interface AttachedVerdict extends ParentVerdict {
  readonly conditions: readonly RouteVerdict[];
  readonly route: MeshRoute;
  /** The ports of the parent where it counts, by what is made for them. */
  readonly ports: readonly string[];
}

/** A Service that routes name as their parent. */
export interface Parent {
  readonly key: string;
  /** Undefined: there is none. */
  readonly service: KubernetesService | undefined;
}

/** More than these for one port are not followed: a client takes a limited message. */
const mostRoutes = 1_000;

/** Joins the routes of a Service. The older come first; a GRPCRoute keeps HTTPRoutes away from its port. */
export function attachRoutes(parent: Parent, all: readonly ResolvedRoute[]): Attachment {
  const ports: Ports = new Map();
  const verdicts: AttachedVerdict[] = [];
  for (const resolved of [...all].sort(byPrecedence)) {
    const { route } = resolved;
    for (const ref of route.parents.filter((one) => objectKey(one) === parent.key)) {
      const judged = attachOne(parent, resolved, ref, ports);
      verdicts.push({ route, parentRef: ref.ref, ...verdictOf(resolved, judged) });
    }
  }
  const sorted = Array.from(
    ports,
    ([port, { routes }]) => [port, routes.sort(byRank).map(({ route }) => route)] as const,
  );
  return { ports: new Map(sorted), verdicts };
}

type Ports = Map<number, { readonly kind: MeshRoute["kind"]; readonly routes: RankedRoute[] }>;

/** The ports where a route counts, by what is made for them, or why it counts nowhere. */
type JudgedRoute = readonly string[] | Pick<RouteVerdict, "reason" | "message">;

function attachOne({ key, service }: Parent, resolved: ResolvedRoute, ref: RouteParent, ports: Ports): JudgedRoute {
  const { route, rules, dropped } = resolved;
  const noParent = (message: string): JudgedRoute => ({ reason: "NoMatchingParent", message });
  if (ref.namespace !== route.namespace)
    return noParent(`Service ${key}: only routes of its own namespace count, which all its clients follow`);
  if (service === undefined) return noParent(`Service ${key}: there is none that is served`);
  if (service.externalName !== undefined)
    return noParent(`Service ${key}: one of the type ExternalName can be no parent`);
  const wanted = service.ports.filter(
    ({ name, port }) => port === (ref.port ?? port) && name === (ref.portName ?? name),
  );
  if (wanted.length === 0) return noParent(`Service ${key}: it has no such port`);
  if (rules.length === 0) {
    const message = dropped.length === 0 ? "it has no rules" : dropped.join("; ");
    return { reason: "UnsupportedValue", message };
  }
  const free = wanted.filter(({ port }) => (ports.get(port)?.kind ?? route.kind) === route.kind);
  // The word of GEP-1294.
  if (free.length === 0)
    return { reason: "Conflicted", message: `Service ${key}: a GRPCRoute is there, which comes first` };
  const made = free.map((one) => {
    const name = portName(service, one);
    const routes = rules.flatMap((rule) => routesOfRule(rule, service.policy, unresolvedName(name)));
    return { port: one.port, name, routes };
  });
  const fits = made.every(({ port, routes }) => routes.length + (ports.get(port)?.routes.length ?? 0) <= mostRoutes);
  if (!fits)
    return { reason: "UnsupportedValue", message: `Service ${key}: its routes have more than ${mostRoutes} matches` };
  for (const { port, routes } of made) {
    getOrInsert(ports, port, () => ({ kind: route.kind, routes: [] })).routes.push(...routes);
  }
  return made.map(({ name }) => name);
}

function verdictOf(
  { route, dropped, problems }: ResolvedRoute,
  judged: JudgedRoute,
): Pick<AttachedVerdict, "conditions" | "ports"> {
  const [problem] = problems;
  // Several rules may name the same backend.
  const why = [...new Set(problems.map(({ message }) => message))].join("; ");
  const refs =
    problem === undefined
      ? verdict("ResolvedRefs", "True", "ResolvedRefs", "all backends are there")
      : verdict("ResolvedRefs", "False", problem.reason, why);
  if ("reason" in judged)
    return { conditions: [verdict("Accepted", "False", judged.reason, judged.message), refs], ports: [] };
  const accepted = verdict("Accepted", "True", "Accepted", ["the route is in use", ...route.notes].join("; "));
  const partly = verdict("PartiallyInvalid", "True", "UnsupportedValue", `Dropped ${dropped.join("; ")}`);
  return { conditions: [accepted, refs, ...(dropped.length > 0 ? [partly] : [])], ports: judged };
}

/** In letters: a status has room for more, but nobody reads it. */
const longestMessage = 4_000;

/** A condition, whose message is not too long. */
export function verdict(
  type: RouteVerdict["type"],
  status: RouteVerdict["status"],
  reason: string,
  message: string,
): RouteVerdict {
  return { type, status, reason, message: message.slice(0, longestMessage) };
}

/** GRPCRoutes before HTTPRoutes, the older before the younger, and then by name. */
function byPrecedence({ route: a }: ResolvedRoute, { route: b }: ResolvedRoute): number {
  return compared(a.kind, b.kind) || compared(a.createdAt, b.createdAt) || compared(objectKey(a), objectKey(b));
}

/** Equal ones stay in their order. */
function byRank({ rank: a }: RankedRoute, { rank: b }: RankedRoute): number {
  const index = a.findIndex((number, at) => number !== b[at]);
  return (b[index] ?? 0) - (a[index] ?? 0);
}

function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
