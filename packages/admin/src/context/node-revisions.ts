import type { ArrivalPart } from "../answers/arrival-parts.js";
import type { ApiLayer } from "../contract/admin-options.js";
import type { NodeRevision, NodeRow } from "../contract/fleet.js";
import type { ApiContext } from "./api-context.js";

/** Of so many resources of a layer one must be what a group is served, or the group is taken not to have the layer. */
const maxLooked = 100;

/**
 * The rows with the newest revision of each layer of their group, and whether the node runs that. A layer without
 * revisions, or of which another server that did not answer may know more, is left out.
 */
export async function withRevisions(
  context: ApiContext,
  arrival: (id: string) => Promise<ArrivalPart>,
  rows: readonly NodeRow[],
): Promise<NodeRow[]> {
  const layers = await Promise.all(
    context.options.layers.map(async (layer) => ({ layer, head: await context.head(layer) })),
  );
  const groups = new Map<string, typeof layers>();
  const known = new Map<string, Promise<ReadonlyMap<string, boolean> | undefined>>();
  const lacksOf = (id: string) => {
    const found = known.get(id) ?? lackingNodes(context, arrival, id);
    known.set(id, found);
    return found;
  };
  const each = rows.map(async (row): Promise<NodeRow> => {
    const ofGroup = groups.get(row.group) ?? layers.filter(({ layer }) => isServed(context, row.group, layer));
    groups.set(row.group, ofGroup);
    const revisions: NodeRevision[] = [];
    for (const { layer, head } of ofGroup) {
      if (head === undefined) continue;
      const lacks = row.state === "synced" ? new Map<string, boolean>() : await lacksOf(head.id);
      if (lacks === undefined) continue;
      revisions.push({ layer: layer.name, id: head.id, number: head.number, isBefore: lacks.get(row.id) ?? false });
    }
    return { ...row, revisions };
  });
  return await Promise.all(each);
}

/** By id, whether a node lacks a part of a revision. Undefined: a server that may have nodes did not answer. */
async function lackingNodes(
  context: ApiContext,
  arrival: (id: string) => Promise<ArrivalPart>,
  id: string,
): Promise<ReadonlyMap<string, boolean> | undefined> {
  const asked = context.peers().map(async (peer) => (await peer.ask("arrival", id)) as ArrivalPart);
  const parts = await Promise.all([arrival(id), ...asked]).catch(() => undefined);
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
