import type { ResourceType } from "@xdskit/api";
import type { ClientEvent, XdsClient } from "@xdskit/client";
import type { CacheFolder } from "./cache-folder.js";
import type { HeldOfGroup } from "./held-resources.js";

/** Writes what is held to disk, a while after it changed. */
export interface CacheWriter {
  event(event: ClientEvent): void;
  wake(): void;
  /** Writes what is not yet written. */
  close(): Promise<void>;
}

export interface CacheWriterOptions {
  readonly cache: CacheFolder;
  readonly held: HeldOfGroup;
  readonly client: Pick<XdsClient, "status">;
  /** What tells the origin from others. */
  readonly origin: string;
  /** It is not known yet what there is of a type. */
  isAwaited(type: ResourceType): boolean;
  failed(error: unknown): void;
}

/** Many responses come at once, and each would write whole types. */
const settleMs = 500;
const retryMs = 5_000;

export function createCacheWriter({ cache, held, client, origin, isAwaited, failed }: CacheWriterOptions): CacheWriter {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** Another server than the first answered: whose versions they are is not known any more. */
  let isMixed = false;
  let closed = false;

  async function write(): Promise<void> {
    // Of a collection that is not known yet, what others ask for by name would be taken for all.
    const types = held.changed().filter((type) => !isAwaited(type));
    try {
      for (const type of types) {
        const from = isMixed ? "" : origin;
        await cache.write({ type, resources: held.of(type), version: versionOf(type), origin: from });
      }
    } catch (error) {
      failed(error);
      for (const type of types) held.touch(type);
      schedule(retryMs);
    }
  }

  function versionOf(type: ResourceType): string {
    const active = client.status().find((server) => server.active);
    const status = active?.types.find((each) => each.type === type);
    return status?.isWhole ? (status.version ?? "") : "";
  }

  function schedule(milliseconds: number): void {
    if (timer !== undefined || closed) return;
    timer = setTimeout(() => {
      timer = undefined;
      writing = writing.then(write);
    }, milliseconds);
  }

  return {
    event({ kind }) {
      if (kind === "switched") isMixed = true;
      if (kind === "updated") schedule(settleMs);
    },
    wake: () => schedule(settleMs),
    async close() {
      closed = true;
      clearTimeout(timer);
      writing = writing.then(write);
      await writing;
    },
  };
}
