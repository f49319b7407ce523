import { setTimeout as delay } from "node:timers/promises";
import { type Finding, XdskitError } from "@xdskit/api";
import { SharedRuns } from "../../basics/shared-runs.js";
import type { StoreWatch } from "../../contracts/stores/shared-keys.js";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { readAgainMs } from "../basics/paces.js";
import type { Queue } from "../basics/queue.js";
import { storeFinding } from "../basics/store-finding.js";
import { watchHeads } from "../history/watch-heads.js";

/** A store that cannot be read. */
export interface StoreAway {
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly finding: Finding;
}

interface StoreFollowerOptions {
  readonly store: Pick<Store, "watch" | "heads">;
  readonly queue: Queue;
  /** In its turn: serves what is newer than what is known. */
  readonly follow: (heads: readonly Revision[]) => Promise<void>;
  /** In its turn: serves what the store has of layers that went back in it. These heads are followed. */
  readonly goBack: (heads: readonly Revision[]) => Promise<void>;
  /** The store cannot be read, with the reason; undefined: it can again. */
  readonly onAway: ((finding: Finding | undefined) => void) | undefined;
}

/** `away`: the store says so. `behind`: what others wrote cannot be read, although the store tells of it. */
type StoreReach = { readonly kind: "reached" } | (StoreAway & { readonly kind: "away" | "behind" });

/** Hears from a store what others write, and has it served in its turn. Knows since when the store cannot be read. */
export class StoreFollower {
  readonly #options: StoreFollowerOptions;
  #watch: StoreWatch | undefined;
  #reach: StoreReach = { kind: "reached" };
  readonly #catchUps = new SharedRuns(() => this.#readNewer());
  /** The heads that the store told last, until they are followed. */
  #moved: readonly Revision[] | undefined;
  #hearing: Promise<void> | undefined;

  constructor(options: StoreFollowerOptions) {
    this.#options = options;
  }

  /** Resolves once what the store told first is served, or once it says that it is away. */
  start(): Promise<void> {
    const { watch, first } = watchHeads(this.#options.store, {
      take: async (heads) => {
        this.#reached("away");
        await this.#hear(heads);
      },
      away: (finding) => this.#lost("away", finding),
    });
    this.#watch = watch;
    return first;
  }

  get away(): StoreAway | undefined {
    return this.#reach.kind === "reached" ? undefined : this.#reach;
  }

  /** Throws the reason: nobody waits until every member of a store has failed to answer. */
  refuseIfAway(): void {
    if (this.#reach.kind === "away") throw new XdskitError([this.#reach.finding]);
  }

  /** Reads the store, and serves what is newer there: its watch may be late. Rejects if the store cannot be read. */
  catchUp(): Promise<void> {
    return this.#catchUps.run();
  }

  close(): void {
    this.#watch?.close();
  }

  async #readNewer(): Promise<void> {
    const { store, queue, follow } = this.#options;
    // The copy of a store that is away would not tell.
    this.refuseIfAway();
    const heads = await store.heads();
    await queue.run(() => follow(heads));
  }

  /** The store tells of its heads. Resolves once they are served. */
  #hear(heads: readonly Revision[]): Promise<void> {
    this.#moved = heads;
    this.#hearing ??= this.#followMoved();
    return this.#hearing;
  }

  /** What cannot be read now is read later: the store may not tell of it again. */
  async #followMoved(): Promise<void> {
    const { queue, follow, goBack } = this.#options;
    const look = async () => {
      const moved = this.#moved ?? [];
      await follow(moved);
      await goBack(moved);
      if (this.#moved === moved) this.#moved = undefined;
    };
    while (this.#moved !== undefined && !queue.isClosed) {
      try {
        await queue.run(look);
        this.#reached("behind");
      } catch (error) {
        if (queue.isClosed) break;
        const finding = storeFinding(error);
        // Too many writers wait: the store is there.
        if (this.#reach.kind === "reached" && finding.code !== "XDSKIT_BUSY") this.#lost("behind", finding);
        await delay(readAgainMs, undefined, { ref: false });
      }
    }
    // In the same turn as the last look: heads that are told later begin a new one.
    this.#hearing = undefined;
  }

  #reached(again: "away" | "behind"): void {
    if (this.#reach.kind !== again) return;
    this.#reach = { kind: "reached" };
    this.#options.onAway?.(undefined);
  }

  #lost(kind: "away" | "behind", finding: Finding): void {
    const { since } = this.away ?? { since: Date.now() };
    this.#reach = { kind, since, finding };
    this.#options.onAway?.(finding);
  }
}
