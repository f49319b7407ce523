import type { XdskitError } from "@xdskit/api";

/** An active watch. Cancelling the last watch of a name unsubscribes. */
export interface Watch {
  cancel(): void;
}

/** The items of a watch that is read as an iterator. */
export type WatchItem<Value> =
  | { readonly kind: "changed"; readonly value: Value }
  | { readonly kind: "error"; readonly error: XdskitError }
  | { readonly kind: "ambient"; readonly error: XdskitError };

/** A watch that is read by `for await`; leaving the loop cancels it. A slow reader gets the newest value. */
export interface WatchIterator<Value> extends AsyncIterableIterator<WatchItem<Value>>, Watch {}
