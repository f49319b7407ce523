import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue } from "./client/messages.js";
import { maxInRequest } from "./in-parts.js";
import { endOf, type Keys } from "./keys.js";

/** All entries that are watched, at one revision of the store. */
export interface WatchedState {
  readonly heads: readonly KeyValue[];
  readonly shared: readonly KeyValue[];
}

/** A moment in the life of a store. */
interface Position {
  readonly revision: number;
  readonly cluster: string;
}

interface WatchedKeys {
  readonly key: string;
  readonly end: string;
}

const text = new TextDecoder();

/**
 * A member that does not say the names in this many milliseconds is left for another one. Values may be large: the
 * member that said their names has the usual time of a call for them.
 */
const lookMs = 1_000;

/** Reads the heads, and what servers share, as one state of the store. Reads again only what is new. */
export class StateReader {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  #state: WatchedState | undefined;
  /** The store's revision of the state, and the cluster that has it. */
  #at: Position | undefined;

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
  }

  /** The state that was read last. */
  get state(): WatchedState | undefined {
    return this.#state;
  }

  /** Its revision of the store; 0: none was read. */
  get revision(): number {
    return this.#at?.revision ?? 0;
  }

  /** Reads the newest state. True: etcd was restored from a backup. Rejects if it cannot be read. */
  async read(): Promise<boolean> {
    const { at, state } = await this.#next();
    const wentBack = this.#wentBack(at);
    this.#at = at;
    this.#state = state;
    return wentBack;
  }

  /** No member answers with less than was known, unless etcd was restored from a backup. */
  #wentBack({ revision, cluster }: Position): boolean {
    return this.#at !== undefined && (revision < this.#at.revision || cluster !== this.#at.cluster);
  }

  /** Of what is shared the names are read first: most looks find little that is new. */
  async #next(): Promise<{ readonly at: Position; readonly state: WatchedState }> {
    const known = this.#state;
    const { at, state } = await this.#ranges(true);
    if (known !== undefined && !this.#wentBack(at)) {
      const isSame = (["heads", "shared"] as const).every(
        (of) => signatureOf(of, known[of]) === signatureOf(of, state[of]),
      );
      if (isSame) return { at, state: known };
      const shared = await this.#withValues(state.shared, known.shared, at);
      if (shared !== undefined) return { at, state: { heads: state.heads, shared } };
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
    if (compare.length > maxInRequest.operations) return undefined;
    if (compare.length > 0) {
      const operations = compare.map(({ key }) => ({ kind: "range", range: { key } }) as const);
      const unchanged = compare.map(({ key, writtenAt }) => ({ key, writtenAt }));
      const answer = await this.#client.transaction({ compare: unchanged, operations });
      if (!answer.succeeded || answer.cluster !== cluster) return undefined;
      for (const entry of answer.ranges.flatMap((range) => range.found)) found.set(entry.key, entry);
    }
    return names.map((name) => found.get(name.key) ?? name);
  }

  async #ranges(namesOfShared: boolean): Promise<{ readonly at: Position; readonly state: WatchedState }> {
    const [heads, shared] = watchedKeys(this.#keys);
    const operations = [
      { kind: "range", range: heads },
      { kind: "range", range: { ...shared, keysOnly: namesOfShared } },
    ] as const;
    const timeoutMs = namesOfShared ? lookMs : undefined;
    const answer = await this.#client.transaction({ compare: [], operations }, timeoutMs);
    const { revision, cluster, ranges: answers } = answer;
    return { at: { revision, cluster }, state: { heads: answers[0]?.found ?? [], shared: answers[1]?.found ?? [] } };
  }
}

/** What is read, and watched. */
export function watchedKeys(keys: Keys): readonly [heads: WatchedKeys, shared: WatchedKeys] {
  const below = (key: string) => ({ key, end: endOf(key) });
  return [below(keys.heads()), below(keys.shared())];
}

/**
 * Equal for equal entries: a revision of the store writes a key once. The few heads are compared with their values,
 * too: a store that was restored from a backup may have come to the same revision in another way.
 */
export function signatureOf(of: keyof WatchedState, entries: readonly KeyValue[]): string {
  const withValue = of === "heads";
  return entries
    .map(({ key, writtenAt, value }) => `${key} ${writtenAt} ${withValue ? text.decode(value) : ""}`)
    .join("\n");
}
