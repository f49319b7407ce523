import type { Clock, Finding } from "@xdskit/api";
import type { CommitInfo, LayerCommit, Revision, Store } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { maxConflicts, writeAgainMs } from "../basics/paces.js";

/** Undoes a change that the server refused after it was kept. */
export interface TakeBack {
  readonly commits: readonly LayerCommit[];
  readonly info: CommitInfo;
}

interface TakeBacksOptions {
  readonly store: Pick<Store, "commit">;
  readonly clock: Clock;
  /** Runs a task in its turn. */
  readonly run: (task: () => Promise<void>) => Promise<void>;
  /** This is what the store has now. */
  readonly committed: (heads: readonly (Revision | undefined)[]) => void;
  /** Another process has written over the change to take back. Its content counts. */
  readonly follow: (layer: LayerName, head: Revision | undefined) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/**
 * The refused changes that are still in the store, by layer. A restart would serve them. Where the store fails, it is
 * tried again before the next change of the layer, after some time, and at the end.
 */
export class TakeBacks {
  readonly #options: TakeBacksOptions;
  readonly #waiting = new Map<LayerName, TakeBack>();
  readonly #timers = new Map<LayerName, () => void>();
  #isClosed = false;

  constructor(options: TakeBacksOptions) {
    this.#options = options;
  }

  /** Takes a change of a layer back, now or later. Does not reject. */
  async add(layer: LayerName, back: TakeBack): Promise<void> {
    this.#waiting.set(layer, back);
    await this.finish(layer).catch((error) => this.#later(layer, error));
  }

  /** Whether what was refused may still be in this layer of the store, or in these leases. */
  isWaiting(layer: LayerName): boolean {
    return [...this.#waiting.values()].some(({ commits }) => commits.some((one) => one.layer === layer));
  }

  /** Call it in a turn, before a layer is changed. Rejects if what was refused is still in the store. */
  async finish(layer: LayerName): Promise<void> {
    const back = this.#waiting.get(layer);
    if (back === undefined) return;
    let { commits } = back;
    for (let tries = 0; tries < maxConflicts && commits.length > 0; tries += 1) {
      const result = await this.#options.store.commit(commits, back.info);
      if (result.kind === "committed") {
        this.#options.committed(result.heads);
        break;
      }
      await this.#options.follow(result.layer, result.head);
      commits = commits.filter((one) => one.layer !== result.layer);
    }
    this.#waiting.delete(layer);
    this.#timers.get(layer)?.();
    this.#timers.delete(layer);
  }

  /** Tries the last time. Does not reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    const last = (layer: LayerName) =>
      this.#options.run(() => this.finish(layer)).catch((error) => this.#options.failed(error));
    await Promise.all(Array.from(this.#waiting.keys(), last));
  }

  #later(layer: LayerName, error: unknown): void {
    this.#options.failed(error);
    if (this.#isClosed) return;
    const again = () =>
      void this.#options.run(() => this.finish(layer)).catch((failure) => this.#later(layer, failure));
    this.#timers.get(layer)?.();
    this.#timers.set(layer, this.#options.clock.after(writeAgainMs, again));
  }
}

/** For whoever reads the log. */
export function takeBackFailed(message: string): Finding {
  const what = "the store still holds a change that the server refused, and it is tried again to remove it";
  return { code: "XDSKIT_STORE", severity: "error", message: `${what}: ${message}` };
}
