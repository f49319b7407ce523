import { canonicalName, type ResourceName, type ResourceType } from "@xdskit/api";
import type { Collection, Watch, XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Wanted } from "./held-resources.js";
import { createLingeringWatches } from "./lingering-watches.js";

/** Who is told of one name. */
export interface NameWatcher {
  found(received: ReceivedResource): void;
  /** The origin says that there is none. Whatever else is wrong may pass, and is not told. */
  absent(): void;
}

/** Who is told of a collection. */
export interface MembersWatcher {
  changed(collection: Collection): void;
  /** It is watched no more; these were its members. */
  ended(members: readonly ResourceName[]): void;
}

/** What one group asks its origin for. */
export interface OriginWatches extends Wanted {
  /** Returns what ends it: at once, or when the origin is there again, lest what is held of it is forgotten. */
  name(type: ResourceType, name: ResourceName, watcher: NameWatcher): () => void;
  collection(type: ResourceType, name: ResourceName, watcher: MembersWatcher): () => void;
  /** The origin is there. */
  connected(): void;
  close(): void;
}

/** `letGo`: something of a type may be wanted no more. */
export function createOriginWatches(
  client: XdsClient,
  isConnected: () => boolean,
  letGo: (type: ResourceType) => void,
): OriginWatches {
  const watches = new Set<Watch>();
  const lingering = createLingeringWatches(isConnected);
  const singles = new Map<string, number>();
  const collections = new Map<ResourceType, Map<ResourceName, number>>();
  let closed = false;

  function cancel(watch: Watch): void {
    watch.cancel();
    watches.delete(watch);
  }

  return {
    isWanted(type, name) {
      if (singles.has(keyOf(type, name))) return true;
      const names = collections.get(type)?.keys() ?? [];
      return [...names].some((glob) => name.startsWith(glob.slice(0, -1)));
    },
    name(type, name, { found, absent }) {
      const key = keyOf(type, canonicalName(name));
      count(singles, key, 1);
      let ended = false;
      const watch = client.watch(type.typeUrl, name, {
        onChanged(received) {
          if (!ended) found(received);
        },
        onError({ code }) {
          if (!ended && code === "XDSKIT_RESOURCE_ABSENT") absent();
        },
      });
      watches.add(watch);
      return () => {
        if (ended) return;
        ended = true;
        lingering.end(() => {
          cancel(watch);
          count(singles, key, -1);
          letGo(type);
        });
      };
    },
    collection(type, name, { changed, ended }) {
      const names = collections.get(type) ?? new Map<ResourceName, number>();
      collections.set(type, names);
      count(names, name, 1);
      const members = new Set<ResourceName>();
      const watch = client.watchCollection(type.typeUrl, name, {
        onChanged(collection) {
          for (const { name } of collection.upserted) members.add(canonicalName(name));
          for (const name of collection.removed) members.delete(canonicalName(name));
          changed(collection);
          // That there is nothing is worth keeping, too.
          letGo(type);
        },
      });
      watches.add(watch);
      return () => {
        cancel(watch);
        count(names, name, -1);
        if (closed) return;
        ended([...members]);
        letGo(type);
      };
    },
    connected: lingering.flush,
    close() {
      closed = true;
      lingering.close();
      for (const watch of watches) watch.cancel();
    },
  };
}

/** Counts up or down; what is at nothing is not there. */
function count<Key>(counts: Map<Key, number>, key: Key, by: 1 | -1): void {
  const now = (counts.get(key) ?? 0) + by;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}

function keyOf(type: ResourceType, name: ResourceName): string {
  return `${type.typeUrl} ${name}`;
}
