import type { ResourceName } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Collection } from "../xds-client.js";

/** Two changes of a collection as one, for a watcher that has been told of neither. */
export function mergeCollections(earlier: Collection, later: Collection): Collection {
  const upserted = new Map<ResourceName, ReceivedResource>();
  const removed = new Set<ResourceName>();
  for (const { upserted: came, removed: went } of [earlier, later]) {
    for (const resource of came) {
      upserted.set(resource.name, resource);
      removed.delete(resource.name);
    }
    for (const name of went) {
      upserted.delete(name);
      removed.add(name);
    }
  }
  return { resources: later.resources, upserted: [...upserted.values()], removed: [...removed] };
}
