import type {
  NodeConfig,
  NodeState,
  NodeStatus,
  ResourceReport,
  ResourceState,
  StreamStatus,
  XdsServer,
} from "@xdskit/server";

/** The pages about nodes read from here. */
export type NodesInput = Pick<XdsServer, "nodes" | "node" | "nodeConfig">;

/** The most resources that one page lists. */
const mostPageResources = 1_000;

/** The most resources that are looked at: any number of streams may have the id of one node. */
const mostLookedAt = 50_000;

/**
 * The answer of `/api/v1/nodes`: every node with a stream, its streams and the state of each type. `state` and `group`
 * filter, `limit` takes the first nodes by id after `after`; `next` is the `after` of the following page, if there is
 * one. Undefined: `limit` is not a number from 1.
 */
export function nodesPage(server: NodesInput, query: URLSearchParams): object | undefined {
  const given = query.get("limit");
  const limit = given === null ? undefined : Number(given);
  if (limit !== undefined && !(/^\d+$/.test(given ?? "") && limit >= 1)) return undefined;
  const nodes = server.nodes({
    group: query.get("group") ?? undefined,
    // No node has an unknown state.
    state: (query.get("state") ?? undefined) as NodeState | undefined,
    after: query.get("after") ?? undefined,
    // One more shows whether there is a next page.
    most: limit === undefined ? undefined : limit + 1,
  });
  const isCut = limit !== undefined && nodes.length > limit;
  const told = isCut ? nodes.slice(0, limit) : nodes;
  return { nodes: told.map(nodeJson), ...(isCut ? { next: told.at(-1)?.id } : {}) };
}

/**
 * The answer of `/api/v1/nodes/<id>`: one node, the number of its resources by state, and those that are not synced, at
 * most 1,000. `isCut`: resources after the first 50,000 are not counted. `type` picks a type, `resources=all` also
 * lists synced resources. Undefined: the node has no stream.
 */
export function nodePage(server: NodesInput, id: string, query: URLSearchParams): object | undefined {
  const node = server.node(id);
  const config = server.nodeConfig(id, { type: query.get("type") ?? undefined, most: mostLookedAt });
  if (node === undefined || config === undefined) return undefined;
  const all = query.get("resources") === "all";
  const listed: ResourceReport[] = [];
  for (const resource of config.resources) {
    if (listed.length === mostPageResources) break;
    if (all || resource.state !== "synced") listed.push(resource);
  }
  return { ...nodeJson(node), resourceStates: countStates(config), isCut: config.isCut, resources: listed };
}

function countStates({ resources }: NodeConfig): Partial<Record<ResourceState, number>> {
  const counts: Partial<Record<ResourceState, number>> = {};
  for (const { state } of resources) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** Without the metadata, which may hold anything. */
function nodeJson({ id, node, group, state, streams }: NodeStatus): object {
  const { cluster, locality, userAgentName, userAgentVersion } = node;
  const client = [userAgentName, userAgentVersion].filter((part) => part !== "").join(" ");
  return { id, cluster, locality, client, group, state, streams: streams.map(streamJson) };
}

function streamJson({ stream: { id, method, peer }, openedAt, types }: StreamStatus): object {
  const { only, variant, api } = method;
  return { id, service: only?.name ?? "ads", variant, api, peer, openedAt, types };
}
