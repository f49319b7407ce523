import type { Revision, Store, StoredChange, StoredKey, StoredResource } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";

/** Somebody who missed more revisions, or changes of resources, gets the newest at once: that costs less. */
export const maxRevisions = 100;
export const maxChanges = 2_000;
/** The same for what is kept only because connections may drain from the listeners that named it: several upgrades. */
export const maxDrained = 25 * maxChanges;

/** The changes that others made to a layer. */
export interface FollowedChanges {
  readonly layer: LayerName;
  /** `replace`: the layer holds exactly `upsert`. `patch`: only these resources differ from the known revision. */
  readonly kind: "replace" | "patch";
  readonly upsert: readonly StoredResource[];
  readonly remove: readonly StoredKey[];
  /** What was made in between, oldest first, with the new head; with `replace` only that. */
  readonly revisions: readonly Revision[];
}

/** Reads what became of a layer after a revision that somebody knows. The cost follows what changed. */
export async function followedSince(
  store: Store,
  known: Revision | undefined,
  head: Revision,
): Promise<FollowedChanges> {
  const { layer } = head;
  return (
    (known && (await patchSince(store, known, head))) ?? {
      layer,
      kind: "replace",
      upsert: await store.read(head.id),
      remove: [],
      revisions: [head],
    }
  );
}

/** Undefined: it is too far, or retention has removed what is in between. */
async function patchSince(store: Store, known: Revision, head: Revision): Promise<FollowedChanges | undefined> {
  const revisions = await revisionsSince(store, known, head);
  if (revisions === undefined) return undefined;
  const newest = new Map<string, StoredChange>();
  for (const { id, upserted, removed } of revisions) {
    if (newest.size + upserted + removed > maxChanges) return undefined;
    for (const change of await store.changes(id)) newest.set(JSON.stringify([change.type, change.key]), change);
  }
  const upsert: StoredResource[] = [];
  const remove: StoredKey[] = [];
  for (const { type, key, to } of newest.values()) {
    if (to === undefined) {
      remove.push({ type, key });
      continue;
    }
    const bytes = await store.content(type, key, to);
    if (bytes === undefined) return undefined;
    upsert.push({ type, key, version: to, bytes });
  }
  return { layer: head.layer, kind: "patch", upsert, remove, revisions };
}

/**
 * The revisions of a layer after one that somebody knows, or from the first one on; oldest first, with the head.
 * Undefined: there are too many, retention has removed some of them, or the head does not come after the known one.
 */
export async function revisionsSince(
  store: Pick<Store, "revision">,
  known: Revision | undefined,
  head: Revision,
): Promise<readonly Revision[] | undefined> {
  const line: Revision[] = [];
  let at: Revision | undefined = head;
  while (at !== undefined && at.id !== known?.id) {
    if (at.number <= (known?.number ?? 0) || line.length === maxRevisions) return undefined;
    line.unshift(at);
    if (at.parent === undefined) return known === undefined ? line : undefined;
    at = await store.revision(at.parent);
  }
  return at === undefined ? undefined : line;
}
