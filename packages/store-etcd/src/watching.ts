import type { Finding } from "@xdskit/api";
import type { StoreWatch } from "@xdskit/server";
import { storeFinding } from "@xdskit/server";
import { LatestWork } from "@xdskit/server/tables";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue } from "./client/messages.js";
import type { Keys } from "./keys.js";
import { StateReader, signatureOf, type WatchedState, watchedKeys } from "./state-reader.js";

/** What a listener watches: the entries of one kind whose keys begin so. */
interface WatchedLayer {
  readonly of: keyof WatchedState;
  readonly prefix: string;
}

/** Hears of the entries that it watches. */
export interface EntriesListener {
  /** The first ones, those that differ, and the first ones after `away`, and after etcd was restored from a backup. */
  entriesChanged(entries: readonly KeyValue[]): void;
  away(finding: Finding): void;
}

/** It is looked without a call as often, in milliseconds: a member that is stopped, or cut off, says nothing. */
const pollMs = 2_000;
/** A watch that ended is opened again after this many milliseconds, and up to as many more. */
const reopenMs = 200;

/**
 * Follows the heads, and what servers share, for all listeners of a store. It costs nothing while there is none.
 *
 * A watch is only a call to look: everything that is told was read as one state of the store. So nothing is missed,
 * whatever becomes of the watch: compaction, a leader that changes, a member that is stopped or cut off.
 */
export class Watching {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #listeners = new Map<EntriesListener, WatchedLayer & { reported: string | undefined }>();
  #poll: NodeJS.Timeout | undefined;
  #reopen: NodeJS.Timeout | undefined;
  #watch: { readonly endpoint: string; stop(): void } | undefined;
  readonly #reader: StateReader;
  /** Why the store is away. */
  #away: Finding | undefined;
  readonly #looks = new LatestWork<void>(
    () => this.#look(),
    () => pollMs,
  );

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
    this.#reader = new StateReader(client, keys);
  }

  add({ of, prefix }: WatchedLayer, listener: EntriesListener): StoreWatch {
    this.#listeners.set(listener, { of, prefix, reported: undefined });
    const away = this.#away;
    // Not before the caller has its watch.
    if (away !== undefined)
      queueMicrotask(() => {
        if (this.#away === away && this.#listeners.has(listener)) listener.away(away);
      });
    this.#poll ??= setInterval(() => this.look(), pollMs).unref();
    this.look();
    return {
      close: () => {
        if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.close();
      },
    };
  }

  /** Something may have changed. */
  look(): void {
    if (this.#listeners.size > 0) this.#looks.take();
  }

  close(): void {
    this.#listeners.clear();
    clearInterval(this.#poll);
    clearTimeout(this.#reopen);
    this.#poll = undefined;
    // Nobody looks any more whether it still is.
    this.#away = undefined;
    this.#unwatch();
  }

  async #look(): Promise<void> {
    if (this.#listeners.size === 0) return;
    try {
      const wentBack = await this.#reader.read();
      // The watch waits for revisions that are numbered as those which are lost.
      if (wentBack) this.#unwatch();
      this.#tell(wentBack || this.#away !== undefined);
      this.#away = undefined;
      this.#follow();
    } catch (error) {
      this.#tellAway(error);
    }
  }

  /** `isBack`: also where nothing differs. */
  #tell(isBack: boolean): void {
    const { state } = this.#reader;
    if (state === undefined) return;
    for (const [listener, about] of [...this.#listeners]) {
      const entries = state[about.of].filter(({ key }) => key.startsWith(about.prefix));
      const signature = signatureOf(about.of, entries);
      if (about.reported === signature && !isBack) continue;
      about.reported = signature;
      listener.entriesChanged(entries);
    }
  }

  #tellAway(error: unknown): void {
    if (this.#away !== undefined) return;
    const finding = storeFinding(error);
    this.#away = finding;
    for (const listener of this.#listeners.keys()) listener.away(finding);
  }

  /** Keeps a watch open at the member that answers. */
  #follow(): void {
    const endpoint = this.#client.current;
    if (this.#watch?.endpoint === endpoint || this.#listeners.size === 0) return;
    this.#unwatch();
    const stop = this.#client.watch(watchedKeys(this.#keys), this.#reader.revision + 1, {
      keysChanged: () => this.look(),
      ended: () => {
        if (this.#watch === watch) this.#watch = undefined;
        clearTimeout(this.#reopen);
        this.#reopen = setTimeout(() => this.look(), reopenMs * (1 + Math.random())).unref();
      },
    });
    const watch = { endpoint, stop };
    this.#watch = watch;
  }

  #unwatch(): void {
    this.#watch?.stop();
    this.#watch = undefined;
  }
}
