import { setTimeout as delay } from "node:timers/promises";
import { type Finding, type ResourceName, type TypeUrl, type Version, XdskitError } from "@xdskit/api";
import type { CopiedKeys } from "../../contracts/stores/copied-keys.js";
import type { StoreWatch } from "../../contracts/stores/shared-keys.js";
import type {
  CommitInfo,
  CommitResult,
  HeadsListener,
  LayerCommit,
  Retention,
  Revision,
  RevisionId,
  Store,
  StoredChange,
  StoredResource,
  StoredVersion,
} from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { readAgainMs } from "../basics/paces.js";
import { storeFinding, withoutNumbers } from "../basics/store-finding.js";
import { Copying } from "./copying.js";
import { LateShared, type LateWatch, lateWatch } from "./late-shared.js";
import type { StoreCopy } from "./store-copy.js";

/** The options of a store with a copy. */
export interface CopiedStoreOptions {
  /** Where the store is, for messages. */
  readonly name: string;
  /** Reaches the store. Rejects if it is away. */
  readonly open: () => Promise<Store>;
  /** Undefined: there can be none on this machine. */
  readonly copy: StoreCopy | undefined;
  /** The shared keys that the copy has, too. Default: none. */
  readonly keys?: CopiedKeys | undefined;
  /** Reports a problem with the copy, once; undefined: it is over. */
  readonly problem: (finding: Finding | undefined) => void;
}

/**
 * A store over the network, with a copy of its heads on this machine. If the store is away at the start, what layers
 * hold is read from the copy until the store is reached; nothing can be written meanwhile, and there is no history.
 */
export class CopiedStore implements Store {
  readonly shared: LateShared;
  readonly #options: CopiedStoreOptions;
  readonly #waiting = new Set<LateWatch<Store>>();
  readonly #stopped = new AbortController();
  #reached: Store | undefined;
  #copying: Copying | undefined;
  #finding: Finding;
  #trying: Promise<void> | undefined;

  private constructor(options: CopiedStoreOptions, finding: Finding) {
    this.#options = options;
    this.#finding = finding;
    const { copy, keys } = options;
    this.shared = new LateShared(
      () => this.#finding,
      (prefix) => (keys?.isCopied(prefix) ? copy?.shared(prefix) : undefined),
    );
  }

  /** Rejects as `open` does, if there is no copy. */
  static async open(options: CopiedStoreOptions): Promise<CopiedStore> {
    const { open, copy } = options;
    const store = new CopiedStore(options, { code: "XDSKIT_STORE", severity: "error", message: "" });
    try {
      store.#arrive(await open());
    } catch (error) {
      const seen = await copy?.seen();
      if (copy === undefined || seen === undefined) {
        await copy?.close();
        throw error;
      }
      const served = `served is a copy from ${new Date(seen).toISOString()}, in ${copy.name}`;
      store.#isAwayFor(error, served);
      store.#trying = store.#try(served);
    }
    return store;
  }

  /** Why what the layers hold comes from the copy; undefined: it does not. */
  get fromCopy(): Finding | undefined {
    return this.#reached === undefined ? this.#finding : undefined;
  }

  get name(): string {
    return this.#options.name;
  }

  async heads(): Promise<readonly Revision[]> {
    return await (this.#reached ?? this.#copy()).heads();
  }

  async head(layer: LayerName): Promise<Revision | undefined> {
    if (this.#reached !== undefined) return await this.#reached.head(layer);
    return (await this.heads()).find((head) => head.layer === layer);
  }

  async revision(id: RevisionId): Promise<Revision | undefined> {
    if (this.#reached !== undefined) return await this.#reached.revision(id);
    return (await this.heads()).find((head) => head.id === id);
  }

  async history(
    layer: LayerName,
    page: { readonly limit: number; readonly before?: number },
  ): Promise<readonly Revision[]> {
    if (this.#reached !== undefined) return await this.#reached.history(layer, page);
    const { limit, before = Number.POSITIVE_INFINITY } = page;
    const head = await this.head(layer);
    return head === undefined || head.number >= before || limit < 1 ? [] : [head];
  }

  async read(id: RevisionId): Promise<readonly StoredResource[]> {
    if (this.#reached !== undefined) return await this.#reached.read(id);
    return (await this.#copy().read(id)) ?? this.#isAway();
  }

  async versions(id: RevisionId): Promise<readonly StoredVersion[]> {
    return await (this.#reached?.versions(id) ?? this.read(id));
  }

  async changes(id: RevisionId): Promise<readonly StoredChange[]> {
    return await (this.#reached ?? this.#isAway()).changes(id);
  }

  async content(type: TypeUrl, key: ResourceName, version: Version): Promise<Uint8Array | undefined> {
    return await (this.#reached ?? this.#copy()).content(type, key, version);
  }

  async commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult> {
    return await (this.#reached ?? this.#isAway()).commit(layers, info);
  }

  async retain(retention: Retention): Promise<number> {
    return (await this.#reached?.retain(retention)) ?? 0;
  }

  watch(listener: HeadsListener): StoreWatch {
    const away = () => this.#finding;
    return lateWatch(this.#reached, this.#waiting, listener, away, (store) => store.watch(listener));
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#trying;
    await this.#copying?.close();
    await this.#options.copy?.close();
    await this.#reached?.close();
  }

  /** `served`: what is served meanwhile. */
  async #try(served: string): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await delay(readAgainMs * (1 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const store = await this.#options.open().catch((error: unknown) => this.#isAwayFor(error, served));
      if (store === undefined) continue;
      this.#arrive(store);
      return;
    }
  }

  /** The reason may be another one with each try. */
  #isAwayFor(error: unknown, served: string): undefined {
    const before = withoutNumbers(this.#finding);
    const message = `${storeFinding(error).message}; ${served}`;
    this.#finding = { code: "XDSKIT_STORE", severity: "error", message };
    if (withoutNumbers(this.#finding) !== before) for (const late of this.#waiting) late.isAway();
  }

  #arrive(store: Store): void {
    const { copy, keys, problem } = this.#options;
    this.#reached = store;
    if (copy !== undefined && !this.#stopped.signal.aborted) this.#copying = new Copying(store, copy, problem, keys);
    for (const { begin } of this.#waiting) begin(store);
    this.#waiting.clear();
    this.shared.reached(store.shared);
  }

  #copy(): StoreCopy {
    return this.#options.copy ?? this.#isAway();
  }

  #isAway(): never {
    throw new XdskitError([this.#finding]);
  }
}
