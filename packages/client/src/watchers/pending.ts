import type { XdskitError } from "@xdskit/api";
import type { WatchItem } from "../contract/watch.js";

/** Merges a later value into one that was not told yet. */
export type Merge<Value> = (earlier: Value, later: Value) => Value;

/**
 * The unreported state of one watcher: only the newest, however many changes came. There is one for each watch, so it
 * is a class, whose functions all share.
 */
export class Pending<Value> {
  readonly #merge: Merge<Value>;
  #main: WatchItem<Value> | undefined;
  #beside: WatchItem<Value> | undefined;

  constructor(merge: Merge<Value>) {
    this.#merge = merge;
  }

  valueChanged(value: Value): void {
    const main = this.#main;
    this.#main = { kind: "changed", value: main?.kind === "changed" ? this.#merge(main.value, value) : value };
    // The problem before is over.
    this.#beside = undefined;
  }

  error(error: XdskitError): void {
    this.#main = { kind: "error", error };
    this.#beside = undefined;
  }

  ambient(error: XdskitError): void {
    this.#beside = { kind: "ambient", error };
  }

  /** The ambient problem is over. */
  recovered(): void {
    this.#beside = undefined;
  }

  /** The next item to tell; undefined if there is none. */
  take(): WatchItem<Value> | undefined {
    const next = this.#main ?? this.#beside;
    if (this.#main !== undefined) this.#main = undefined;
    else this.#beside = undefined;
    return next;
  }

  clear(): void {
    this.#main = undefined;
    this.#beside = undefined;
  }

  get isEmpty(): boolean {
    return this.#main === undefined && this.#beside === undefined;
  }
}
