import type { XdskitError } from "@xdskit/api";
import type { WatchItem } from "../xds-client.js";

/** Puts what came later onto what was not yet told. */
export type Merge<Value> = (earlier: Value, later: Value) => Value;

/** What one watcher has not been told yet: the newest alone, however much came. */
export interface Pending<Value> {
  changed(value: Value): void;
  error(error: XdskitError): void;
  ambient(error: XdskitError): void;
  /** What was wrong beside it is over. */
  recovered(): void;
  /** What is to be told next; undefined: nothing. */
  take(): WatchItem<Value> | undefined;
  clear(): void;
  readonly isEmpty: boolean;
}

export function createPending<Value>(merge: Merge<Value>): Pending<Value> {
  let main: WatchItem<Value> | undefined;
  let beside: WatchItem<Value> | undefined;
  return {
    changed(value) {
      main = { kind: "changed", value: main?.kind === "changed" ? merge(main.value, value) : value };
      // What was wrong before is over.
      beside = undefined;
    },
    error(error) {
      main = { kind: "error", error };
      beside = undefined;
    },
    ambient(error) {
      beside = { kind: "ambient", error };
    },
    recovered() {
      beside = undefined;
    },
    take() {
      const next = main ?? beside;
      if (main !== undefined) main = undefined;
      else beside = undefined;
      return next;
    },
    clear() {
      main = undefined;
      beside = undefined;
    },
    get isEmpty() {
      return main === undefined && beside === undefined;
    },
  };
}
