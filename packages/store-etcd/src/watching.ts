import type { Finding } from "@xdskit/api";
import type { StoreWatch } from "@xdskit/server";
import { storeFinding } from "@xdskit/server";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue } from "./client/messages.js";
import { mostInRequest } from "./in-parts.js";
import { endOf, type Keys } from "./keys.js";

/**
 * A watch is only a call to look: everything that is told was read as one state of the store. So nothing is missed,
 * whatever becomes of the watch: compaction, a leader that changes, a member that is stopped or cut off.
 */
const ranges = ["heads", "shared"] as const;

/** What is watched. */
export type WatchedRange = (typeof ranges)[number];

/** All entries of the watched ranges, at one revision of the store. */
export type WatchedState = Readonly<Record<WatchedRange, readonly KeyValue[]>>;

/** A moment in the life of a store. */
interface Position {
  readonly revision: number;
  readonly cluster: string;
}

interface WatchedKeys {
  readonly key: string;
  readonly end: string;
}

/** Hears of states. */
export interface StateListener {
  /**
   * The first state, every one in which its range differs, and, `isBack`, the first one after `away`, and after etcd
   * was restored from a backup.
   */
  changed(state: WatchedState, isBack: boolean): void;
  away(finding: Finding): void;
}

const text = new TextDecoder();

/** It is looked without a call as often, in milliseconds: a member that is stopped, or cut off, says nothing. */
const pollMs = 2_000;
/** A member that does not answer a look in so many milliseconds is left for another one. */
const lookMs = 1_000;
/** A watch that ended is opened again after so many milliseconds, and up to as many more. */
const reopenMs = 200;

/** Follows the heads, and what servers share, for all listeners of a store. It costs nothing while there is none. */
export class Watching {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #listeners = new Map<StateListener, { readonly range: WatchedRange; told: string | undefined }>();
  #poll: NodeJS.Timeout | undefined;
  #reopen: NodeJS.Timeout | undefined;
  #watch: { readonly endpoint: string; stop(): void } | undefined;
  #state: WatchedState | undefined;
  /** The store's revision of the state, and the cluster that has it. */
  #at: Position | undefined;
  /** Why the store is away. */
  #away: Finding | undefined;
  #looking: Promise<void> | undefined;
  #isCalled = false;

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
  }

  add(range: WatchedRange, listener: StateListener): StoreWatch {
    this.#listeners.set(listener, { range, told: undefined });
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
    if (this.#listeners.size === 0) return;
    this.#isCalled = true;
    this.#looking ??= this.#look();
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
    while (this.#isCalled && this.#listeners.size > 0) {
      this.#isCalled = false;
      try {
        const { at, state } = await this.#read();
        const wentBack = this.#wentBack(at);
        // The watch waits for revisions that are numbered as those which are lost.
        if (wentBack) this.#unwatch();
        this.#at = at;
        this.#state = state;
        this.#tell(wentBack || this.#away !== undefined);
        this.#away = undefined;
        this.#follow();
      } catch (error) {
        this.#tellAway(error);
      }
    }
    this.#looking = undefined;
  }

  /** No member answers with less than was known, unless etcd was restored from a backup. */
  #wentBack({ revision, cluster }: Position): boolean {
    return this.#at !== undefined && (revision < this.#at.revision || cluster !== this.#at.cluster);
  }

  /** Reads the heads, and of what is shared the names first: most looks find little that is new. */
  async #read(): Promise<{ readonly at: Position; readonly state: WatchedState }> {
    const known = this.#state;
    if (known !== undefined) {
      const { at, state } = await this.#ranges(true);
      if (!this.#wentBack(at)) {
        if (ranges.every((range) => signatureOf(range, known) === signatureOf(range, state)))
          return { at, state: known };
        const shared = await this.#withValues(state.shared, known.shared, at);
        if (shared !== undefined) return { at, state: { heads: state.heads, shared } };
      }
    }
    return await this.#ranges(false);
  }

  /**
   * These entries with their values, as they were at that moment; only those are read that are not known. Undefined:
   * too many are not, or one was written again meanwhile.
   */
  async #withValues(
    names: readonly KeyValue[],
    known: readonly KeyValue[],
    { cluster }: Position,
  ): Promise<readonly KeyValue[] | undefined> {
    const found = new Map(known.map((entry) => [entry.key, entry]));
    const compare = names.filter(({ key, writtenAt }) => found.get(key)?.writtenAt !== writtenAt);
    if (compare.length > mostInRequest.operations) return undefined;
    if (compare.length > 0) {
      const operations = compare.map(({ key }) => ({ kind: "range", range: { key } }) as const);
      const unchanged = compare.map(({ key, writtenAt }) => ({ key, writtenAt }));
      const answer = await this.#client.transaction({ compare: unchanged, operations }, lookMs);
      if (!answer.succeeded || answer.cluster !== cluster) return undefined;
      for (const entry of answer.ranges.flatMap((range) => range.found)) found.set(entry.key, entry);
    }
    return names.map((name) => found.get(name.key) ?? name);
  }

  async #ranges(namesOfShared: boolean): Promise<{ readonly at: Position; readonly state: WatchedState }> {
    const [heads, shared] = this.#watched();
    const operations = [
      { kind: "range", range: heads },
      { kind: "range", range: { ...shared, keysOnly: namesOfShared } },
    ] as const;
    const { revision, cluster, ranges: answers } = await this.#client.transaction({ compare: [], operations }, lookMs);
    return { at: { revision, cluster }, state: { heads: answers[0]?.found ?? [], shared: answers[1]?.found ?? [] } };
  }

  #watched(): readonly [heads: WatchedKeys, shared: WatchedKeys] {
    const below = (key: string) => ({ key, end: endOf(key) });
    return [below(this.#keys.heads()), below(this.#keys.shared())];
  }

  /** `isBack`: also where nothing differs. */
  #tell(isBack: boolean): void {
    const state = this.#state;
    if (state === undefined) return;
    for (const [listener, about] of [...this.#listeners]) {
      const signature = signatureOf(about.range, state);
      if (about.told === signature && !isBack) continue;
      about.told = signature;
      listener.changed(state, isBack);
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
    const stop = this.#client.watch(this.#watched(), (this.#at?.revision ?? 0) + 1, {
      changed: () => this.look(),
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

/** Equal for equal entries: a revision of the store writes a key once. The few heads are compared with their values. */
function signatureOf(range: WatchedRange, state: WatchedState): string {
  const entries = state[range];
  if (range === "heads") return entries.map(({ key, value }) => `${key} ${text.decode(value)}`).join("\n");
  return entries.map(({ key, writtenAt }) => `${key} ${writtenAt}`).join("\n");
}
