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
  failed(error: unknown): void;
}

/** Many responses come at once, and each would write whole types. */
const settleMs = 500;
const retryMs = 5_000;

export function createCacheWriter({ cache, held, client, origin, failed }: CacheWriterOptions): CacheWriter {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** Another server than the first answered: whose versions they are is not known any more. */
  let isMixed = false;
  let closed = false;

  async function write(): Promise<void> {
    const types = held.changed();
    if (types.length === 0) return;
    try {
      // Before the files: versions of an unknown origin are taken for none.
      await cache.writeOrigin(isMixed ? "" : origin);
      for (const type of types) await cache.write({ type, resources: held.of(type), version: versionOf(type) });
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
