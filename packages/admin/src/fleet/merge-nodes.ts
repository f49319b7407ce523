import { nodeStanding, rankOf, type Standing } from "@xdskit/server";
import type { NodeRow, NodeTimeline } from "../contract/fleet.js";
import { mergedTypes } from "./row.js";

/** A node as `nodeJson` makes it: parts of it may be at several servers. */
interface NodeParts {
  readonly id: string;
  readonly streams: readonly { readonly types: readonly Standing[] }[];
  readonly resourceStates?: Readonly<Record<string, number>>;
  readonly isCut?: boolean;
  readonly resources?: readonly object[];
}

/** Nodes of several servers by id: one with streams at several of them is one node. */
export function mergedNodes(lists: readonly (readonly object[])[]): readonly object[] {
  return byId(lists as readonly (readonly NodeParts[])[], bothNodes);
}

/** Rows of several servers by id. */
export function mergedRows(lists: readonly (readonly NodeRow[])[]): readonly NodeRow[] {
  return byId(lists, bothRows);
}

/** The parts of one node. */
export function mergedNode(parts: readonly object[]): object | undefined {
  return mergedNodes(parts.map((one) => [one]))[0];
}

/** The history of a node at several servers, the newest entry first. */
export function mergedTimeline(parts: readonly NodeTimeline[]): NodeTimeline | undefined {
  if (parts.length <= 1) return parts[0];
  const moments = parts.flatMap((one) => one.moments).sort((a, b) => (a.at < b.at ? 1 : -1));
  return { isConnected: parts.some(({ isConnected }) => isConnected), moments };
}

function byId<T extends { readonly id: string }>(
  lists: readonly (readonly T[])[],
  both: (a: T, b: T) => T,
): readonly T[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const merged = new Map<string, T>();
  for (const one of lists.flat()) {
    const known = merged.get(one.id);
    merged.set(one.id, known === undefined ? one : both(known, one));
  }
  return [...merged.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function bothNodes(a: NodeParts, b: NodeParts): NodeParts {
  const streams = [...a.streams, ...b.streams];
  const merged = { ...a, ...nodeStanding(streams.flatMap(({ types }) => types)), streams };
  if (a.resources === undefined || b.resources === undefined) return merged;
  const counts = { ...a.resourceStates };
  for (const [state, count] of Object.entries(b.resourceStates ?? {})) counts[state] = (counts[state] ?? 0) + count;
  const isCut = a.isCut === true || b.isCut === true;
  return { ...merged, resourceStates: counts, isCut, resources: [...a.resources, ...b.resources] };
}

function bothRows(a: NodeRow, b: NodeRow): NodeRow {
  const types = mergedTypes([...a.types, ...b.types]);
  return {
    ...(rankOf(b.state) > rankOf(a.state) ? b : a),
    ...nodeStanding(types),
    replicas: [...new Set([...a.replicas, ...b.replicas])].sort(),
    connectedSince: a.connectedSince < b.connectedSince ? a.connectedSince : b.connectedSince,
    streams: a.streams + b.streams,
    behind: a.behind + b.behind,
    lagMs: a.lagMs === null || b.lagMs === null ? (a.lagMs ?? b.lagMs) : Math.max(a.lagMs, b.lagMs),
    types,
  };
}
