import { canonicalName, type ResourceName, type ResourceType, type XdskitError } from "@xdskit/api";
import type { Collection, ResourceWatcher, Watch, XdsClient } from "@xdskit/client";
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
  /** Cancelled, it ends at once, or when the origin is there again, lest what is held of it is forgotten. */
  name(type: ResourceType, name: ResourceName, watcher: NameWatcher): Watch;
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
  const lingering = createLingeringWatches(isConnected);
  /** How many ask for a name, by type. */
  const singles = new Map<ResourceType, Map<ResourceName, number>>();
  const collections = new Map<ResourceType, Map<ResourceName, number>>();
  let closed = false;

  const context: NameWatchContext = {
    ended(watch) {
      lingering.end(() => {
        watch.end();
        count(singles, watch.type, canonicalName(watch.name), -1);
        letGo(watch.type);
      });
    },
    isClosed: () => closed,
  };

  return {
    isWanted(type, name) {
      if (singles.get(type)?.has(name) === true) return true;
      const names = collections.get(type)?.keys() ?? [];
      return [...names].some((glob) => name.startsWith(glob.slice(0, -1)));
    },
    name(type, name, watcher) {
      count(singles, type, canonicalName(name), 1);
      const watch = new NameWatch(context, type, name, watcher);
      watch.start(client);
      return watch;
    },
    collection(type, name, { changed, ended }) {
      count(collections, type, name, 1);
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
      return () => {
        watch.cancel();
        count(collections, type, name, -1);
        if (closed) return;
        ended([...members]);
        letGo(type);
      };
    },
    connected: lingering.flush,
    close() {
      closed = true;
      lingering.close();
    },
  };
}

interface NameWatchContext {
  /** It is not needed any more. */
  ended(watch: NameWatch): void;
  isClosed(): boolean;
}

/** What a client asks for by name. There are as many as names: a class, whose functions all share. */
class NameWatch implements Watch, ResourceWatcher {
  readonly type: ResourceType;
  readonly name: ResourceName;
  readonly #context: NameWatchContext;
  readonly #watcher: NameWatcher;
  #watch: Watch | undefined;
  #isOver = false;

  constructor(context: NameWatchContext, type: ResourceType, name: ResourceName, watcher: NameWatcher) {
    this.#context = context;
    this.type = type;
    this.name = name;
    this.#watcher = watcher;
  }

  start(client: XdsClient): void {
    this.#watch = client.watch(this.type.typeUrl, this.name, this);
  }

  onChanged(received: ReceivedResource): void {
    if (!this.#isOver && !this.#context.isClosed()) this.#watcher.found(received);
  }

  onError({ code }: XdskitError): void {
    const isTold = !this.#isOver && !this.#context.isClosed();
    if (isTold && code === "XDSKIT_RESOURCE_ABSENT") this.#watcher.absent();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.ended(this);
  }

  /** Nothing is asked for any more. */
  end(): void {
    this.#watch?.cancel();
  }
}

/** Counts up or down; what is at nothing is not there. */
function count(
  types: Map<ResourceType, Map<ResourceName, number>>,
  type: ResourceType,
  name: ResourceName,
  by: 1 | -1,
): void {
  const counts = types.get(type) ?? new Map<ResourceName, number>();
  types.set(type, counts);
  const now = (counts.get(name) ?? 0) + by;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
}
