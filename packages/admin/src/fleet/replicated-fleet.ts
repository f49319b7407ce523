import type { XdsServer } from "@xdskit/server";
import type { NodeListQuery, ServedFleet } from "../contract/fleet.js";
import { usualPage } from "../contract/limits.js";
import type { PeerServer } from "../contract/peers.js";
import { ApiProblem } from "../contract/problem.js";
import { answersFromRows } from "./answers-from-rows.js";
import { type LocalFleet, worstFirst } from "./local-fleet.js";
import { mergedNode, mergedNodes, mergedRows, mergedTimeline } from "./merge-nodes.js";
import { askPeers, type FleetQuestions, type Gathered, peersRows, rowsPage } from "./peer-questions.js";
import { RowCache, type Silent, type TimedRows } from "./row-cache.js";

/** The answers of this server to its peers, only about the nodes with streams to it. */
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
 * left out, and named. A node with streams to several of them is one node. Methods about one node reject with an
 * ApiProblem (503) where only a server that does not answer may know it.
 */
export function createReplicatedFleet(
  local: LocalFleet,
  peers: () => readonly PeerServer[],
  server: Pick<XdsServer, "types" | "stats">,
): ServedFleet {
  const cache = new RowCache(() => lookEverywhere(local, peers()));
  const all: ServedFleet = {
    ...answersFromRows(() => cache.rows(), server),
    async nodes({ state, limit, ...query }) {
      if (state === undefined) {
        const { silent, ...page } = await nodesPage(local, peers(), { ...query, limit });
        return { ...page, ...rejectionOf(silent) };
      }
      // Only all parts of a node tell its state.
      const found: ListedNode[] = [];
      for (let after = query.after; ; ) {
        const page = await nodesPage(local, peers(), { ...query, after, limit: Math.max(limit, usualPage) });
        found.push(...page.nodes.filter((node) => node.state === state));
        after = page.next;
        if (after !== undefined && found.length <= limit) continue;
        return { ...firstOf(found, limit), ...rejectionOf(page.silent) };
      }
    },
    async node(id, query) {
      const asked = await askPeers(peers(), "node", { id, ...query });
      const node = mergedNode(partsOf(id, await local.node(id, query), asked));
      return node && { ...node, ...rejectionOf(asked.silent) };
    },
    async row(id) {
      const { rows, silent } = await cache.rows();
      return partsOf(id, undefined, { answers: rows.filter((row) => row.id === id), silent })[0];
    },
    async resources(id, { offset, limit, ...query }) {
      const firsts = { ...query, offset: 0, limit: offset + limit };
      const asked = await askPeers(peers(), "resources", { id, query: firsts });
      const parts = partsOf(id, await local.resources(id, firsts), asked);
      if (parts.length === 0) return undefined;
      const found = worstFirst(parts.flatMap(({ resources }) => resources));
      return {
        total: parts.reduce((sum, { total }) => sum + total, 0),
        isCut: parts.some(({ isCut }) => isCut),
        resources: found.slice(offset, offset + limit),
      };
    },
    async contents(id, type, name) {
      const asked = await askPeers(peers(), "contents", { id, type, name });
      const parts = partsOf(id, await local.contents(id, type, name), asked);
      // A server to which the node has no stream for the resource knows only that the node does not run it from there.
      return parts.find(({ running }) => running !== null) ?? parts[0];
    },
    async timeline(id) {
      return mergedTimeline(partsOf(id, await local.timeline(id), await askPeers(peers(), "timeline", id)));
    },
    async loads(id) {
      const parts = [await local.loads(id), ...(await askPeers(peers(), "loads", id)).answers];
      return parts.flat();
    },
  };
  const isAlone = () => peers().length === 0;
  // A server that is alone asks nobody, and keeps no second list.
  return Object.fromEntries(
    Object.entries(all).map(([name, answer]) => {
      const own = local[name as keyof ServedFleet] as (...asked: unknown[]) => unknown;
      const everywhere = answer as (...asked: unknown[]) => unknown;
      return [name, (...asked: unknown[]) => (isAlone() ? own(...asked) : everywhere(...asked))];
    }),
  ) as unknown as ServedFleet;
}

interface ListedNode {
  readonly id: string;
  readonly state: string;
}

/** A page of the nodes in whichever state, each in one piece. */
async function nodesPage(local: LocalFleet, peers: readonly PeerServer[], query: Omit<NodeListQuery, "state">) {
  const [own, { answers, silent }] = await Promise.all([local.nodes(query), askPeers(peers, "nodes", query)]);
  const parts = [own, ...answers];
  const merged = mergedNodes(parts.map(({ nodes }) => nodes)) as readonly ListedNode[];
  const hasMore = parts.some(({ next }) => next !== undefined);
  return { ...firstOf(merged, query.limit, hasMore), silent };
}

/** The first nodes, and where the next page begins if there are more. */
function firstOf(nodes: readonly ListedNode[], limit: number, hasMore = false) {
  const listed = nodes.slice(0, limit);
  const last = hasMore || nodes.length > limit ? listed.at(-1) : undefined;
  return { nodes: listed, ...(last === undefined ? {} : { next: last.id }) };
}

/** All parts of a node. Throws a problem if there is none, and a server that is silent may have it. */
function partsOf<T>(id: string, own: T | undefined, { answers, silent }: Gathered<T>): readonly T[] {
  if (own !== undefined) return [own, ...answers];
  const [first] = silent;
  if (answers.length > 0 || first === undefined) return answers;
  const named = silent.map(({ replica }) => replica).join(", ");
  const message = `node ${JSON.stringify(id.slice(0, 200))} may be at ${named}: ${first.reason}`;
  throw ApiProblem.of(503, "XDSKIT_REPLICA_SILENT", message);
}

/** Servers that did not answer: what is told may not be all. */
function rejectionOf(silent: readonly Silent[]): { readonly silent?: readonly Silent[] } {
  return silent.length === 0 ? {} : { silent };
}

async function lookEverywhere(local: LocalFleet, peers: readonly PeerServer[]): Promise<TimedRows> {
  const [own, { answers, silent }] = await Promise.all([local.all(), peersRows(peers)]);
  // Waiting for the others does not count, nor does reading their answers, which cannot be told apart from it: a server
  // that does not answer must not make the rows old.
  const began = performance.now();
  const rows = mergedRows([own.rows, ...answers]);
  return { at: own.at, rows, silent, worked: performance.now() - began };
}
