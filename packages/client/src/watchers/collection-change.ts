import { canonicalName, type ResourceName } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Collection } from "../contract/xds-client.js";

/** A change of a collection. */
export interface CollectionChange {
  readonly upserted: readonly ReceivedResource[];
  readonly removed: readonly ResourceName[];
  /** The upserted names that are new, in canonical form. */
  readonly added: ReadonlySet<ResourceName>;
}

/** The new names of each change. */
const addedIn = new WeakMap<Collection, ReadonlySet<ResourceName>>();

type Resources = Collection["resources"];

/** A change, as watchers get it. */
export function changedCollection(resources: Resources, { upserted, removed, added }: CollectionChange): Collection {
  const collection = { resources, upserted, removed };
  addedIn.set(collection, added);
  return collection;
}

/** The whole collection, for a watcher that has none of it. */
export function wholeCollection(resources: Resources): Collection {
  return changedCollection(resources, {
    upserted: [...resources.values()],
    removed: [],
    added: new Set(resources.keys()),
  });
}

/**
 * The sum of several changes. Names that came and went meanwhile are left out, so that it never holds more names than
 * the collection has or had.
 */
interface Sum {
  readonly upserted: Map<ResourceName, ReceivedResource>;
  readonly removed: Set<ResourceName>;
  readonly added: Set<ResourceName>;
}

/** For merged changes that were not read yet. */
const sums = new WeakMap<Collection, Sum>();

/**
 * Merges two changes of a collection, for a watcher that was told of neither. Costs the later one; do not use `earlier`
 * afterwards.
 */
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
