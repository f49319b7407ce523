import { canonicalName, type ResourceName } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Collection } from "../xds-client.js";

/** What became different in a collection. */
export interface CollectionChange {
  readonly upserted: readonly ReceivedResource[];
  readonly removed: readonly ResourceName[];
  /** Names among those upserted that were not there before, in canonical form. */
  readonly added: ReadonlySet<ResourceName>;
}

/** Which names of a change were not there before it. */
const addedIn = new WeakMap<Collection, ReadonlySet<ResourceName>>();

type Resources = Collection["resources"];

/** A change, as watchers are told of it. */
export function changedCollection(resources: Resources, { upserted, removed, added }: CollectionChange): Collection {
  const collection = { resources, upserted, removed };
  addedIn.set(collection, added);
  return collection;
}

/** All of a collection, for who has nothing of it. */
export function wholeCollection(resources: Resources): Collection {
  return changedCollection(resources, {
    upserted: [...resources.values()],
    removed: [],
    added: new Set(resources.keys()),
  });
}

/** What several changes have come to. What came and went meanwhile is not in it, so that it never holds more names than were or are there. */
interface Sum {
  readonly upserted: Map<ResourceName, ReceivedResource>;
  readonly removed: Set<ResourceName>;
  readonly added: Set<ResourceName>;
}

/** Of changes that were put together and that nobody has read yet. */
const sums = new WeakMap<Collection, Sum>();

/** Two changes of a collection as one, for a watcher that has been told of neither. Costs the later one; `earlier` is not to be used on. */
export function mergeCollections(earlier: Collection, later: Collection): Collection {
  const sum = sums.get(earlier) ?? add({ upserted: new Map(), removed: new Set(), added: new Set() }, earlier);
  const merged = collectionOf(later.resources, add(sum, later));
  sums.set(merged, sum);
  return merged;
}

function add(sum: Sum, change: Collection): Sum {
  const isNew = addedIn.get(change);
  for (const resource of change.upserted) {
    const name = canonicalName(resource.name);
    if (!sum.removed.delete(name) && isNew?.has(name) && !sum.upserted.has(name)) sum.added.add(name);
    sum.upserted.set(name, resource);
  }
  for (const name of change.removed) {
    sum.upserted.delete(name);
    if (!sum.added.delete(name)) sum.removed.add(name);
  }
  return sum;
}

/** The lists are made when they are first read. */
function collectionOf(resources: Resources, sum: Sum): Collection {
  let upserted: Collection["upserted"] | undefined;
  let removed: Collection["removed"] | undefined;
  return {
    resources,
    get upserted() {
      upserted ??= [...sum.upserted.values()];
      return upserted;
    },
    get removed() {
      removed ??= [...sum.removed];
      return removed;
    },
  };
}
