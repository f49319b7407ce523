import type { Finding } from "@xdskit/api";
import type { CopiedKeys } from "../../contracts/stores/copied-keys.js";
import type { SharedEntry, StoreWatch } from "../../contracts/stores/shared-keys.js";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { LatestWork } from "../basics/latest-work.js";
import { writeAgainMs } from "../basics/paces.js";
import { storeFinding } from "../basics/store-finding.js";
import { Troubles } from "../basics/troubles.js";
import type { StoreCopy } from "./store-copy.js";

/** How often the copy notes that it is still the newest, in milliseconds. */
const stillMs = 60_000;

/** Keeps a copy up to date while its store is there. */
export class Copying {
  readonly #from: Store;
  readonly #copy: StoreCopy;
  readonly #troubles: Troubles;
  readonly #keys: CopiedKeys | undefined;
  readonly #watches: readonly StoreWatch[];
  readonly #still: NodeJS.Timeout;
  /** What must still be copied. */
  #heads: readonly Revision[] | undefined;
  #entries: readonly SharedEntry[] | undefined;
  /** The entries that the store told last, of those that are copied. */
  #reportedEntries: readonly SharedEntry[] | undefined;
  #hasHeads = false;
  #hasEntries: boolean;
  #isAway = false;
  readonly #takes = new LatestWork<void>(
    () => this.#take(),
    (error) => this.#failed(error),
  );

  /** `problem` hears once of each thing that goes wrong with it; undefined: it is well again. */
  constructor(
    from: Store,
    copy: StoreCopy,
    problem: (finding: Finding | undefined) => void,
    keys: CopiedKeys | undefined,
  ) {
    this.#from = from;
    this.#copy = copy;
    this.#troubles = new Troubles(problem);
    this.#keys = keys;
    this.#hasEntries = keys === undefined;
    const heads = from.watch({
      moved: (heads) => {
        this.#isAway = false;
        this.#heads = heads;
        this.#takes.take();
      },
      away: () => {
        this.#isAway = true;
      },
    });
    const shared =
      keys &&
      from.shared.watch(keys.prefix, {
        entriesChanged: (entries) => this.#hear(entries.filter(({ key }) => keys.isCopied(key))),
        away: () => {},
      });
    this.#watches = shared === undefined ? [heads] : [heads, shared];
    this.#still = setInterval(() => this.#takes.take(), stillMs).unref();
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    clearInterval(this.#still);
    await this.#takes.close();
  }

  /** Other keys that begin as these do change often. */
  #hear(entries: readonly SharedEntry[]): void {
    if (this.#reportedEntries !== undefined && areSame(this.#reportedEntries, entries)) return;
    this.#reportedEntries = entries;
    this.#entries = entries;
    this.#takes.take();
  }

  async #take(): Promise<void> {
    if (this.#isAway) return;
    const [heads, entries] = [this.#heads, this.#entries];
    this.#heads = undefined;
    this.#entries = undefined;
    try {
      // What a rollout holds back must be known before what it brings.
      if (entries !== undefined && this.#keys !== undefined) {
        await this.#copy.takeShared(this.#from, this.#keys, entries);
        this.#hasEntries = true;
      }
      if (heads !== undefined) {
        await this.#copy.take(this.#from, heads);
        this.#hasHeads = true;
      }
      // Half a copy is not a copy.
      if (this.#hasHeads && this.#hasEntries) await this.#copy.isNewest();
      this.#troubles.over();
    } catch (error) {
      this.#heads ??= heads;
      this.#entries ??= entries;
      throw error;
    }
  }

  #failed(error: unknown): number {
    const message = `no copy of ${this.#from.name} is kept here: ${storeFinding(error).message}`;
    this.#troubles.tell({ code: "XDSKIT_STORE", severity: "warning", message });
    return writeAgainMs;
  }
}

function areSame(some: readonly SharedEntry[], others: readonly SharedEntry[]): boolean {
  const isSame = (one: SharedEntry, other: SharedEntry | undefined) =>
    one.key === other?.key && one.version === other.version && one.value === other.value;
  return some.length === others.length && some.every((one, index) => isSame(one, others[index]));
}
