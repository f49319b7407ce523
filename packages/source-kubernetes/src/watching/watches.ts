import { systemClock } from "@xdskit/api";
import type { KubernetesConnection } from "../connection/connection.js";
import type { ObjectShape } from "../objects/object-shape.js";
import { ListWatch, type ListWatchOptions } from "./list-watch.js";

/** What the watches of one cluster share. */
export interface WatchesOptions extends Pick<ListWatchOptions<unknown>, "silenceMs"> {
  readonly connection: KubernetesConnection;
  /** Something has changed, or all that there was is known now. */
  readonly onChanged: () => void;
  /** What was asked for could not be read, or can again (undefined). */
  readonly failed: (error: Error | undefined, path: string) => void;
}

/** All watches of one cluster. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #all: ListWatch<unknown>[] = [];
  /** Those that have read everything once. */
  readonly #synced = new Set<number>();
  readonly #failures = new Map<number, Error>();
  #changedAt: number | undefined;

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /** Each has read everything once. */
  get areSynced(): boolean {
    return this.#synced.size === this.#all.length;
  }

  /** One at least cannot read now. */
  get isFailing(): boolean {
    return this.#failures.size > 0;
  }

  /** What is known is what the server had then, or later, in milliseconds since 1970. NaN: not all is known. */
  get heardAt(): number {
    return Math.min(...this.#all.map(({ heardAt }) => heardAt ?? Number.NaN));
  }

  /** When the first change came since this was asked last, by the system's clock; undefined: there was none. */
  takeChangedAt(): number | undefined {
    const changedAt = this.#changedAt;
    this.#changedAt = undefined;
    return changedAt;
  }

  add<Value>(
    path: string,
    selectors: Partial<Pick<ListWatchOptions<Value>, "labelSelector" | "fieldSelector">>,
    read: (object: ObjectShape) => Value | undefined,
    objectChanged: ListWatchOptions<Value>["objectChanged"],
  ): void {
    const { connection, silenceMs } = this.#options;
    const number = this.#all.length;
    const { labelSelector, fieldSelector } = selectors;
    const watch = new ListWatch<Value>({
      connection,
      path,
      read,
      silenceMs,
      labelSelector,
      fieldSelector,
      objectChanged: (key, before, value) => {
        this.#changedAt ??= systemClock.now();
        objectChanged(key, before, value);
        this.#options.onChanged();
      },
      synced: () => {
        this.#synced.add(number);
        this.#options.onChanged();
      },
      failed: (error) => this.#failed(number, path, error),
    });
    this.#all.push(watch as ListWatch<unknown>);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((watch) => watch.close()));
  }

  #failed(number: number, path: string, error: Error | undefined): void {
    if (this.#failures.get(number)?.message === error?.message) return;
    if (error === undefined) this.#failures.delete(number);
    else this.#failures.set(number, error);
    this.#options.failed(error, path);
  }
}
