import { canonicalName, type ResourceType } from "@xdskit/api";
import type { ClientEvent, XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { CacheFolder } from "./cache-folder.js";
import type { KnownOfNames, OriginResources } from "./origin-resources.js";

export interface CacheWriterOptions extends KnownOfNames {
  readonly cache: CacheFolder;
  readonly retained: OriginResources;
  readonly client: Pick<XdsClient, "status">;
  /** Identifies the origin. */
  readonly origin: string;
  /** Whether the content of a type is still unknown. */
  isAwaited(type: ResourceType): boolean;
  /** Told of each type that was written. */
  written(type: ResourceType): void;
  failed(error: unknown): void;
}

/** Resources from disk that nobody asked for yet may be older. */
const noVersion = { version: "", isAll: false };
/** Responses come in bursts, and each would write whole types. */
const settleMs = 500;
const cacheRetryMs = 5_000;

/** Writes the retained resources to disk, a while after they changed. */
export interface CacheWriter {
  event(event: ClientEvent): void;
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
  ...names
}: CacheWriterOptions): CacheWriter {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** A fallback answered: nobody knows any more whose versions these are. */
  let isMixed = false;
  let closed = false;

  async function write(): Promise<void> {
    // As long as the collection is unknown, names that others ask for would look like the whole set.
    const types = retained.takeChangedTypes().filter((type) => !isAwaited(type));
    const from = isMixed ? "" : origin;
    // All at one moment, or else routes might name clusters of another one.
    const contents = types.map((type) => {
      const { resources, isNewest } = retained.of(type, names);
      return { type, resources, ...(isNewest ? versionOf(type, resources) : noVersion), origin: from };
    });
    try {
      await cache.write(contents);
      for (const type of types) written(type);
    } catch (error) {
      failed(error);
      schedule(cacheRetryMs);
      for (const type of types) retained.touch(type);
    }
  }

  function versionOf(type: ResourceType, resources: readonly ReceivedResource[]) {
    const active = client.status().find((server) => server.active);
    const status = active?.types.find((each) => each.type === type);
    // Those of an authority are another server's.
    const isWhole =
      status?.isWhole === true && resources.every(({ name }) => status.resources.has(canonicalName(name)));
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

  retained.onTouched(() => schedule(settleMs));

  return {
    event({ kind }: ClientEvent) {
      if (kind === "switched") isMixed = true;
    },
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      writing = writing.then(write);
      await writing;
    },
  };
}
