import type { Revision } from "@xdskit/server";
import type { ArrivalPart } from "../answers/arrival-parts.js";
import type { ApiLayer } from "../contract/admin-options.js";
import type { NodeRevisionJson, NodeRow, NodeTimeline } from "../contract/fleet.js";
import { usualPage } from "../contract/limits.js";
import type { ApiContext } from "./api-context.js";

/** Of so many resources of a layer one must be what a group is served, or the group is taken not to have the layer. */
const maxLooked = 100;

/** So many revisions of a layer are looked at for what a node that is not synced lacks. */
const maxBefore = 10;

/** How far some nodes with streams to this server are with a revision. */
type AskNodes = (asked: { readonly id: string; readonly nodes: readonly string[] }) => Promise<ArrivalPart>;

/** Rows with the revisions that their nodes run. */
export type WithRevisions = (rows: readonly NodeRow[]) => Promise<NodeRow[]>;

/**
 * What happened to a node, with the newest revision where the node runs exactly that, and nothing else is known: after
 * a restart of the server.
 */
export function withNewest(timeline: NodeTimeline, row: NodeRow | undefined): NodeTimeline {
  const [newest, ...others] = row?.revisions ?? [];
  if (newest === undefined || others.length > 0 || newest.isBefore || row?.state !== "synced") return timeline;
  const { layer, id, number } = newest;
  const now = new Map<string | undefined, string | undefined>();
  const moments = timeline.moments.map((moment) => {
    const { kind, type, version, revision } = moment;
    if (kind === "acknowledged" && !now.has(type)) now.set(type, version);
    const isNow = version !== undefined && now.get(type) === version;
    return isNow && revision === undefined ? { ...moment, revision: { layer, id, number } } : moment;
  });
  return { ...timeline, moments };
}

/** Nodes for which their revisions are asked one by one; of more, all nodes are read. */
const oneByOne = 20;

/** By id, what `withRevisions` says of nodes. Whoever is not connected is left out. */
export async function revisionsOf(
  { fleet }: ApiContext,
  withThem: WithRevisions,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly NodeRevisionJson[]>> {
  const found = new Map<string, readonly NodeRevisionJson[]>();
  const take = async (rows: readonly NodeRow[]) => {
    for (const { id, revisions = [] } of await withThem(rows)) found.set(id, revisions);
  };
  if (ids.length <= oneByOne) {
    const rows = await Promise.all(ids.map((id) => fleet.row(id)));
    await take(rows.flatMap((row) => row ?? []));
    return found;
  }
  const wanted = new Set(ids);
  for (let offset = 0; ; offset += usualPage) {
    const { nodes } = await fleet.rows({ sort: "id", descending: false, offset, limit: usualPage });
    await take(nodes.filter(({ id }) => wanted.has(id)));
    if (nodes.length < usualPage) return found;
  }
}

/**
 * The rows with the newest revision of each layer of their group, and whether the node runs that. A layer without
 * revisions, whose store is away, or of which another server that did not answer may know more, is left out.
 */
export async function withRevisions(
  context: ApiContext,
  arrival: AskNodes,
  rows: readonly NodeRow[],
): Promise<NodeRow[]> {
  const layers = await Promise.all(
    context.options.layers.map(async (layer) => ({ layer, head: await context.head(layer).catch(() => undefined) })),
  );
  const groups = new Map<string, typeof layers>();
  // Others run the newest: nobody need compare them.
  const nodes = rows.flatMap(({ id, state }) => (state === "synced" ? [] : [id]));
  const reading: Reading = {
    lacksOf: oncePerId((id) => lackingNodes(context, arrival, { id, nodes })),
    revisionOf: oncePerId((id) => revisionOf(context, id)),
  };
  const each = rows.map(async (row): Promise<NodeRow> => {
    const ofGroup = groups.get(row.group) ?? layers.filter(({ layer }) => isServed(context, row.group, layer));
    groups.set(row.group, ofGroup);
    const revisions: NodeRevisionJson[] = [];
    for (const { layer, head } of ofGroup) {
      if (head === undefined) continue;
      const isBefore = row.state === "synced" ? false : await lacksAny(head, reading, row.id);
      if (isBefore !== undefined) revisions.push({ layer: layer.name, id: head.id, number: head.number, isBefore });
    }
    return { ...row, revisions };
  });
  return await Promise.all(each);
}

/** What is read of revisions, each once for all rows. */
interface Reading {
  lacksOf(id: string): ReturnType<typeof lackingNodes>;
  revisionOf(id: string): ReturnType<typeof revisionOf>;
}

function oncePerId<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (id) => {
    const found = known.get(id) ?? read(id);
    known.set(id, found);
    return found;
  };
}

/**
 * Whether a node lacks a part of a revision, or of one of those before it, which the last one need not concern.
 * Undefined: a server that may know more did not answer.
 */
async function lacksAny(head: Revision, { lacksOf, revisionOf }: Reading, node: string): Promise<boolean | undefined> {
  let at: Revision | undefined = head;
  for (let looked = 0; at !== undefined && looked < maxBefore; looked += 1) {
    const lacks = await lacksOf(at.id);
    if (lacks === undefined) return undefined;
    if (lacks.get(node) === true) return true;
    at = at.parent === undefined ? undefined : await revisionOf(at.parent);
  }
  return false;
}

/** Undefined: it is not kept any more. */
async function revisionOf(context: ApiContext, id: string): Promise<Revision | undefined> {
  return await context.revision(id).then(
    ({ revision }) => revision,
    () => undefined,
  );
}

/** By id, whether a node lacks a part of a revision. Undefined: a server that may have nodes did not answer. */
async function lackingNodes(
  context: ApiContext,
  arrival: AskNodes,
  asked: Parameters<AskNodes>[0],
): Promise<ReadonlyMap<string, boolean> | undefined> {
  const elsewhere = context.peers().map(async (peer) => (await peer.ask("arrival", asked)) as ArrivalPart);
  const parts = await Promise.all([arrival(asked), ...elsewhere]).catch(() => undefined);
  if (parts === undefined) return undefined;
  const lacks = new Map<string, boolean>();
  for (const { each } of parts)
    for (const [node, state] of Object.entries(each))
      lacks.set(node, lacks.get(node) === true || state !== "acknowledged");
  return lacks;
}

/** Whether a group is served something of a layer. */
function isServed({ options: { server } }: ApiContext, group: string, { layer }: ApiLayer): boolean {
  const snapshot = server.snapshotOf(group);
  let looked = 0;
  for (const set of server.layerSnapshot(layer)?.sets.values() ?? [])
    for (const { type, key, version } of set) {
      if (snapshot?.of(type).get(key)?.version === version) return true;
      looked += 1;
      if (looked >= maxLooked) return false;
    }
  return false;
}
