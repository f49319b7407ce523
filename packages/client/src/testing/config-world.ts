import type { Message } from "@bufbuild/protobuf";
import { Cluster_DiscoveryType } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { XdsConfig } from "../contract/xds-config.js";
import {
  aggregateCluster,
  apiListener,
  assignment,
  edsCluster,
  host,
  hosts,
  httpChain,
  inlineCluster,
  socketListener,
  tcpChain,
} from "./config-messages.js";

/** A test's model of a resource. `tag` tells its versions apart, and stands somewhere in the message. */
export type Piece =
  | {
      readonly kind: "listener";
      readonly tag: number;
      readonly routes: readonly (string | RoutePiece)[];
      readonly tcp: string | undefined;
    }
  | RoutePiece
  | { readonly kind: "eds" | "static" | "aggregate"; readonly tag: number; readonly below: readonly string[] }
  | { readonly kind: "endpoint"; readonly tag: number };

/** `all` is named by the virtual host of all domains, `own` by that of `own.example`, if there is one. */
export interface RoutePiece {
  readonly kind: "route";
  readonly tag: number;
  readonly all: readonly string[];
  readonly own: readonly string[] | undefined;
}

/** By `cluster c1`. */
export type World = ReadonlyMap<string, Piece>;

type Random = (bound: number) => number;

export const worldNames = {
  listener: ["l"],
  route: ["r0", "r1", "r2"],
  cluster: Array.from({ length: 20 }, (_, index) => `c${index}`),
  endpoint: ["c0", "c1", "c2", "e0", "e1"],
};

/** A random version of a resource. */
export function randomPiece(key: string, tag: number, random: Random): Piece {
  const [type = "", name = ""] = key.split(" ");
  const some = (names: readonly string[], most: number) =>
    Array.from({ length: random(most + 1) }, () => names[random(names.length)] ?? "");
  const routes = (): RoutePiece => ({
    kind: "route",
    tag,
    all: some(worldNames.cluster, 3),
    own: random(2) === 0 ? some(worldNames.cluster, 2) : undefined,
  });
  if (type === "endpoint") return { kind: "endpoint", tag };
  if (type === "route") return routes();
  if (type === "listener") {
    const count = random(3) === 0 ? random(4) : 1;
    const one = () => (random(4) === 0 ? routes() : (worldNames.route[random(3)] ?? ""));
    return {
      kind: "listener",
      tag,
      routes: Array.from({ length: count }, one),
      tcp: random(4) === 0 ? "c3" : undefined,
    };
  }
  const index = Number(name.slice(1));
  // Long chains are likely, so that some are too long.
  if (random(3) > 0)
    return {
      kind: "aggregate",
      tag,
      below: [`c${index + 1}`, ...some(worldNames.cluster, 1).filter(() => random(4) === 0)],
    };
  const below = random(2) === 0 ? [name] : some(worldNames.endpoint, 1);
  return random(3) > 0 && below.length > 0 ? { kind: "eds", tag, below } : { kind: "static", tag, below: [] };
}

export function messageOf(key: string, piece: Piece): Message {
  const [, name = ""] = key.split(" ");
  switch (piece.kind) {
    case "listener": {
      const of = (routes: string | RoutePiece) =>
        typeof routes === "string" ? routes : configurationOf("inline", routes);
      const [first] = piece.routes;
      const listener =
        piece.routes.length === 1 && first !== undefined && piece.tcp === undefined
          ? apiListener(name, of(first))
          : socketListener(
              name,
              ...piece.routes.map((routes, index) => httpChain(`h${index}`, of(routes))),
              ...(piece.tcp === undefined ? [] : [tcpChain("t", piece.tcp)]),
            );
      listener.statPrefix = String(piece.tag);
      return listener;
    }
    case "route":
      return configurationOf(name, piece);
    case "eds":
      return edsCluster(name, piece.below[0] === name ? "" : piece.below[0], String(piece.tag));
    case "static":
      return Object.assign(inlineCluster(name, Cluster_DiscoveryType.STATIC), { altStatName: String(piece.tag) });
    case "aggregate":
      return Object.assign(aggregateCluster(name, ...piece.below), { altStatName: String(piece.tag) });
    default:
      return assignment(name, piece.tag);
  }
}

function configurationOf(name: string, { tag, all, own }: RoutePiece) {
  const others = own === undefined ? [] : [host("own", ["own.example"], ...own)];
  return hosts(name, host(String(tag), ["*"], ...all), ...others);
}

/** The result of a world: a text of the report, undefined while something is missing; and all needs. */
export interface Resolved {
  readonly text: string | undefined;
  readonly needed: ReadonlySet<string>;
}

/**
 * Resolves a world step by step, as one would on paper. `absent` names do not exist, and names that are not in `known`
 * were not answered.
 */
export function resolveWorld(
  known: ReadonlyMap<string, Piece | "absent">,
  subscribed: readonly string[],
  authority: string | undefined,
): Resolved {
  const needed = new Set<string>(["listener l"]);
  const listener = known.get("listener l");
  const routeTexts: (string | undefined)[] = [];
  const roots = new Set(subscribed);
  let isBroken = false;
  if (typeof listener === "object" && listener.kind === "listener") {
    const found = new Map<string, RoutePiece | "absent" | undefined>();
    for (const [index, routes] of listener.routes.entries()) {
      if (typeof routes !== "string") found.set(`inline ${index}`, routes);
      else {
        needed.add(`route ${routes}`);
        found.set(routes, known.get(`route ${routes}`) as RoutePiece | "absent" | undefined);
      }
    }
    isBroken = found.size > 0 && [...found.values()].every((routes) => routes === "absent");
    if (listener.tcp !== undefined && !isBroken) roots.add(listener.tcp);
    for (const [name, routes] of found) {
      if (routes === undefined) routeTexts.push(undefined);
      else if (routes === "absent") routeTexts.push(`${name} error`);
      else {
        routeTexts.push(`${name.split(" ")[0]} ${routes.tag}`);
        const named = authority === undefined ? [...routes.all, ...(routes.own ?? [])] : (routes.own ?? routes.all);
        for (const name of named) roots.add(name);
      }
    }
  }
  const clusterOf = (name: string) => known.get(`cluster ${name}`);
  const belowOf = (name: string) => {
    const piece = clusterOf(name);
    return typeof piece === "object" && piece.kind === "aggregate" ? piece.below : [];
  };
  // A cluster is looked for if it is at most 15 steps below one that is named.
  const reached = new Set(roots);
  for (let step = 1; step < 16; step += 1)
    for (const name of [...reached]) for (const next of belowOf(name)) reached.add(next);
  const texts: (string | undefined)[] = [];
  for (const name of reached) {
    needed.add(`cluster ${name}`);
    const piece = clusterOf(name);
    if (piece === undefined) texts.push(undefined);
    else if (piece === "absent") texts.push(`${name} error`);
    else if (piece.kind === "aggregate") texts.push(`${name} ${piece.tag} ${endsBelow(name, reached, clusterOf)}`);
    else if (piece.kind === "eds") {
      needed.add(`endpoint ${piece.below[0]}`);
      const endpoints = known.get(`endpoint ${piece.below[0]}`);
      texts.push(endpoints && `${name} ${piece.tag} ${endpoints === "absent" ? "error" : endpoints.tag}`);
    } else if ("tag" in piece) texts.push(`${name} ${piece.tag} inline`);
  }
  if (listener === "absent" || isBroken) return { text: "error", needed };
  const isMissing = listener === undefined || routeTexts.includes(undefined) || texts.includes(undefined);
  const tag = typeof listener === "object" ? listener.tag : "";
  return { text: isMissing ? undefined : [tag, ...routeTexts, ...texts.sort()].join("; "), needed };
}

function endsBelow(
  root: string,
  reached: ReadonlySet<string>,
  clusterOf: (name: string) => Piece | "absent" | undefined,
): string {
  const seen: string[] = [];
  const ends: string[] = [];
  const follow = (name: string, above: readonly string[]): boolean => {
    if (above.includes(name)) return false;
    if (seen.includes(name)) return true;
    if (above.length >= 16 || !reached.has(name)) return false;
    seen.push(name);
    const piece = clusterOf(name);
    if (typeof piece === "object" && piece.kind === "aggregate")
      return piece.below.every((next) => follow(next, [...above, name]));
    ends.push(name);
    return true;
  };
  return follow(root, []) ? ends.join(" ") : "error";
}

/** The same text for a watcher's report. */
export function configText(config: XdsConfig): string {
  const routes = config.routes.map((routes) =>
    routes.kind === "error" ? `${routes.name} error` : `${routes.name} ${routes.configuration.virtualHosts[0]?.name}`,
  );
  const clusters = [...config.clusters.values()].map((cluster) => {
    const tag = cluster.resource?.message.altStatName;
    if (cluster.kind === "error") return tag === undefined ? `${cluster.name} error` : `${cluster.name} ${tag} error`;
    if (cluster.kind === "aggregate") return `${cluster.name} ${tag} ${cluster.leaves.join(" ")}`;
    const { endpoints } = cluster;
    if (endpoints.kind !== "assignment") return `${cluster.name} ${tag} ${endpoints.kind}`;
    const address = endpoints.resource.message.endpoints[0]?.lbEndpoints[0]?.hostIdentifier;
    const socket = address?.case === "endpoint" ? address.value.address?.address : undefined;
    return `${cluster.name} ${tag} ${socket?.case === "socketAddress" ? socket.value.portSpecifier.value : ""}`;
  });
  return [config.listener.message.statPrefix, ...routes, ...clusters.sort()].join("; ");
}
