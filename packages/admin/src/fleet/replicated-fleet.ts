import type { ResourceTypes } from "@xdskit/api";
import type { Fleet } from "../contract/fleet.js";
import type { Peer } from "../contract/peers.js";
import { answersFromRows } from "./answers-from-rows.js";
import { type LocalFleet, worstFirst } from "./local-fleet.js";
import { mergedNode, mergedNodes, mergedRows, mergedTimeline } from "./merge-nodes.js";
import { askPeers, type FleetQuestions, peersRows, rowsPage } from "./peer-questions.js";
import { type Looked, RowCache } from "./row-cache.js";

/** What this server answers its peers: about the nodes with streams to it, and no others. */
export function fleetAnswers(local: LocalFleet): FleetQuestions {
  return {
    rows: async (asked) => rowsPage(await local.all(), asked),
    nodes: (asked) => local.nodes(asked),
    node: async ({ id, ...query }) => (await local.node(id, query)) ?? null,
    resources: async ({ id, query }) => (await local.resources(id, query)) ?? null,
    contents: async ({ id, type, name }) => (await local.contents(id, type, name)) ?? null,
    timeline: async (id) => (await local.timeline(id)) ?? null,
    loads: (id) => local.loads(id),
  };
}

/**
 * All nodes of the servers of one store. Each server is asked when somebody wants to know; one that does not answer is
 * left out. A node with streams to several of them is one node.
 */
export function createReplicatedFleet(local: LocalFleet, peers: () => readonly Peer[], types: ResourceTypes): Fleet {
  const cache = new RowCache(() => lookEverywhere(local, peers()));
  const all: Fleet = {
    ...answersFromRows(() => cache.rows(), types),
    async nodes(query) {
      const own = await local.nodes(query);
      const parts = [own, ...(await askPeers(peers(), "nodes", query))];
      const merged = mergedNodes(parts.map(({ nodes }) => nodes)) as readonly { readonly id: string }[];
      const told = query.limit === undefined ? merged : merged.slice(0, query.limit);
      const hasMore = told.length < merged.length || parts.some(({ next }) => next !== undefined);
      const next = hasMore ? told.at(-1)?.id : undefined;
      return { nodes: told, ...(next === undefined ? {} : { next }) };
    },
    async node(id, query) {
      const parts = await askPeers(peers(), "node", { id, ...query });
      return mergedNode(withOwn(await local.node(id, query), parts));
    },
    async row(id) {
      return (await cache.rows()).rows.find((row) => row.id === id);
    },
    async resources(id, { offset, limit, ...query }) {
      const firsts = { ...query, offset: 0, limit: offset + limit };
      const parts = withOwn(
        await local.resources(id, firsts),
        await askPeers(peers(), "resources", { id, query: firsts }),
      );
      if (parts.length === 0) return undefined;
      const found = worstFirst(parts.flatMap(({ resources }) => resources));
      return {
        total: parts.reduce((sum, { total }) => sum + total, 0),
        isCut: parts.some(({ isCut }) => isCut),
        resources: found.slice(offset, offset + limit),
      };
    },
    async contents(id, type, name) {
      const parts = withOwn(
        await local.contents(id, type, name),
        await askPeers(peers(), "contents", { id, type, name }),
      );
      // A server where the node does not ask for it knows only that it runs nothing of it.
      return parts.find(({ running }) => running !== null) ?? parts[0];
    },
    timeline: async (id) => mergedTimeline(withOwn(await local.timeline(id), await askPeers(peers(), "timeline", id))),
    async loads(id) {
      const parts = [await local.loads(id), ...(await askPeers(peers(), "loads", id))];
      return parts.flat();
    },
  };
  const isAlone = () => peers().length === 0;
  // Whoever is alone asks nobody, and keeps no second list.
  return Object.fromEntries(
    Object.entries(all).map(([name, answer]) => {
      const own = local[name as keyof Fleet] as (...asked: unknown[]) => unknown;
      const everywhere = answer as (...asked: unknown[]) => unknown;
      return [name, (...asked: unknown[]) => (isAlone() ? own(...asked) : everywhere(...asked))];
    }),
  ) as unknown as Fleet;
}

function withOwn<T>(own: T | undefined, others: readonly T[]): readonly T[] {
  return own === undefined ? others : [own, ...others];
}

async function lookEverywhere(local: LocalFleet, peers: readonly Peer[]): Promise<Looked> {
  const began = performance.now();
  const [own, { answers, silent }] = await Promise.all([local.all(), peersRows(peers)]);
  const rows = mergedRows([own.rows, ...answers]);
  return { at: own.at, rows, silent, worked: performance.now() - began };
}
