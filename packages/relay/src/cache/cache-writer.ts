import { canonicalName, type ResourceType } from "@xdskit/api";
import type { ClientEvent, XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { CachedType } from "./cache-file.js";
import type { CacheFolder } from "./cache-folder.js";
import type { RetainedResources } from "./retained-resources.js";

export interface CacheWriterOptions {
  readonly cache: CacheFolder;
  readonly retained: RetainedResources;
  readonly client: Pick<XdsClient, "status">;
  /** Identifies the origin. */
  readonly origin: string;
  /** Whether the content of a type is still unknown. */
  isAwaited(type: ResourceType): boolean;
  /** Told of each type that was written. */
  written(type: ResourceType): void;
  failed(error: unknown): void;
}

/** Responses come in bursts, and each would write whole types. */
const settleMs = 500;
const cacheRetryMs = 5_000;

/** Writes the retained resources to disk, a while after they changed. */
export interface CacheWriter {
  event(event: ClientEvent): void;
  wake(): void;
  /** Writes everything that is not written yet. */
  close(): Promise<void>;
}

export function createCacheWriter({
  cache,
  retained,
  client,
  origin,
  isAwaited,
  written,
  failed,
}: CacheWriterOptions): CacheWriter {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** A fallback answered: nobody knows any more whose versions these are. */
  let isMixed = false;
  let closed = false;

  async function write(): Promise<void> {
    // As long as the collection is unknown, names that others ask for would look like the whole set.
    const types = retained.changed().filter((type) => !isAwaited(type));
    const from = isMixed ? "" : origin;
    // All at one moment, or else routes might name clusters of another one.
    const contents = types.map((type) => ({ type, resources: retained.of(type) }));
    try {
      await cache.write(contents.map((one) => ({ ...one, ...versionOf(one), origin: from })));
      for (const type of types) written(type);
    } catch (error) {
      failed(error);
      for (const type of types) retained.touch(type);
      schedule(cacheRetryMs);
    }
  }

  function versionOf({ type, resources }: Pick<CachedType, "type" | "resources">) {
    const active = client.status().find((server) => server.active);
    const status = active?.types.find((each) => each.type === type);
    // Resources from disk that nobody asked for yet may be older, and those of an authority are another server's.
    const isOf = (each: ReceivedResource) =>
      status?.resources.has(canonicalName(each.name)) === true && retained.isAsked(each);
    const isWhole = status?.isWhole === true && !retained.waited(type) && resources.every(isOf);
    const version = isWhole ? (status.version ?? "") : "";
    return { version, isAll: version !== "" && status?.wildcard === true };
  }

  function schedule(milliseconds: number): void {
    if (timer !== undefined || closed) return;
    timer = setTimeout(() => {
      timer = undefined;
      writing = writing.then(write);
    }, milliseconds);
  }

  return {
    event({ kind }: ClientEvent) {
      if (kind === "switched") isMixed = true;
      if (kind === "updated") schedule(settleMs);
    },
    wake: () => schedule(settleMs),
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      writing = writing.then(write);
      await writing;
    },
  };
}
