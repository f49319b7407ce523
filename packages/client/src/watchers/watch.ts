import type { XdskitError } from "@xdskit/api";

/** A watch under way. The last one of a name to be cancelled unsubscribes. */
export interface Watch {
  cancel(): void;
}

/** What a watch as an iterator gives. */
export type WatchItem<Value> =
  | { readonly kind: "changed"; readonly value: Value }
  | { readonly kind: "error"; readonly error: XdskitError }
  | { readonly kind: "ambient"; readonly error: XdskitError };

/** A watch that is read by `for await`; leaving the loop cancels it. Who is slow gets the newest. */
export interface WatchIterator<Value> extends AsyncIterableIterator<WatchItem<Value>>, Watch {}
