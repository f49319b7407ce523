import { setImmediate as nextTurn } from "node:timers/promises";
import { inTurns, oneByOne, type ResourceType } from "@xdskit/api";
import { decodeStored, type Revision, type Store, type StoredChange } from "@xdskit/server";
import type { ChangedContents } from "../answers/revision-stages.js";
import type { ApiContext } from "./api-context.js";

export type RevisionArrival = Awaited<ReturnType<typeof revisionArrival>>;

/** A revision's arrival at the nodes with streams to this server. Throws a problem if there is no such revision. */
export async function revisionArrival(context: ApiContext, id: string) {
  const { revision, store } = await context.revision(id);
  const kept = { revision, store, changes: await store.changes(id) };
  const arrival = context.options.server.contentArrival(await contentsOf(context, kept));
  let isServed = false;
  return {
    arrival,
    isFromBefore: revision.time < context.startedAt,
    /** False: this server has not served it yet, so its clients cannot have it. */
    async isServed(): Promise<boolean> {
      isServed ||= await servesRevision(context, kept);
      return isServed;
    },
  };
}

/** Whether this server has served a revision, and a later change of its layer has replaced a part of it. */
export async function isReplacedRevision(context: ApiContext, kept: KeptRevision): Promise<boolean> {
  return (await servesRevision(context, kept)) && !(await hasContents(context, kept));
}

interface KeptRevision {
  readonly revision: Revision;
  readonly store: Store;
  readonly changes: readonly StoredChange[];
}

async function contentsOf(context: ApiContext, kept: KeptRevision): Promise<ChangedContents> {
  const { server, registry } = context.options;
  const { revision, store, changes } = kept;
  const reading = { registry, types: server.types };
  const upserted = [];
  const removed: { type: ResourceType; name: string }[] = [];
  for (const [index, { type, key, to }] of changes.entries()) {
    if (index % 100 === 99) await nextTurn();
    const found = server.types.byTypeUrl(type);
    if (found === undefined) continue;
    const bytes = to === undefined ? undefined : await store.content(type, key, to);
    if (to === undefined) removed.push({ type: found.type, name: key });
    else if (bytes !== undefined) upserted.push(decodeStored({ type, key, version: to, bytes }, reading));
  }
  return { layer: revision.layer, upserted, removed, isReplaced: await isReplacedRevision(context, kept) };
}

/** Whether this server serves a revision, or a newer one of its layer. */
async function servesRevision(context: ApiContext, kept: KeptRevision): Promise<boolean> {
  const { layers } = context.options;
  const { revision, store } = kept;
  const filled = layers.find(({ layer }) => layer === revision.layer)?.filled;
  if (filled?.by === "api") return (filled.written.head(revision.layer)?.number ?? 0) >= revision.number;
  // Each server fills the layer of a source by itself: what replaces this revision there may come first.
  return (await hasContents(context, kept)) || (await store.head(revision.layer))?.id !== revision.id;
}

/** Whether the layer has all that a revision changed in it. */
async function hasContents(context: ApiContext, { revision, changes }: KeptRevision): Promise<boolean> {
  const { server } = context.options;
  const served = server.layerSnapshot(revision.layer);
  let hasAll = true;
  const look = oneByOne(changes, ({ type, key, to }) => {
    const found = server.types.byTypeUrl(type);
    hasAll &&= found === undefined || served?.of(found.type).get(key)?.version === to;
  });
  await inTurns(look);
  return hasAll;
}
