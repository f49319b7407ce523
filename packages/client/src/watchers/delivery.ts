import type { XdskitError } from "@xdskit/api";
import { createPending, type Merge } from "./pending.js";

/** Who watches, whatever it watches. */
export interface Watcher<Value> {
  onChanged(value: Value): void | PromiseLike<void>;
  onError?(error: XdskitError): void | PromiseLike<void>;
  onAmbient?(error: XdskitError): void | PromiseLike<void>;
  /** What `onAmbient` was told last is over, and nothing else is different. */
  onRecovered?(): void;
}

/** The calls to one watcher: one after the other, each once the promise of the one before has settled. */
export interface Delivery<Value> {
  changed(value: Value): void;
  error(error: XdskitError): void;
  ambient(error: XdskitError): void;
  recovered(): void;
  /** Nothing is told any more. */
  cancel(): void;
  /** Resolves once the watcher is done with all that it was given; undefined where it is, and where it is late. */
  readonly busy: Promise<void> | undefined;
  /** It took too long: until it is done it holds up nobody. */
  giveUp(): void;
}

/** `failed` hears what the watcher throws. What is given in the same turn in which the delivery is made is told in a later one. */
export function createDelivery<Value>(
  watcher: Watcher<Value>,
  merge: Merge<Value>,
  failed: (error: unknown) => void,
): Delivery<Value> {
  const pending = createPending(merge);
  let working = true;
  let late = false;
  let cancelled = false;
  let waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  function call(): void | PromiseLike<void> {
    const item = pending.take();
    try {
      switch (item?.kind) {
        case "changed":
          return watcher.onChanged(item.value);
        case "error":
          return watcher.onError?.(item.error);
        case "ambient":
          return watcher.onAmbient?.(item.error);
      }
    } catch (error) {
      failed(error);
    }
  }

  function work(): void {
    working = true;
    while (!pending.isEmpty) {
      const result = call();
      if (!isPromise(result)) continue;
      Promise.resolve(result)
        .catch((error: unknown) => {
          if (!cancelled) failed(error);
        })
        .then(work);
      return;
    }
    working = false;
    late = false;
    waiting?.resolve();
    waiting = undefined;
  }

  function given(): void {
    if (cancelled) pending.clear();
    else if (!working) work();
  }

  queueMicrotask(work);
  return {
    changed(value) {
      pending.changed(value);
      given();
    },
    error(error) {
      pending.error(error);
      given();
    },
    ambient(error) {
      pending.ambient(error);
      given();
    },
    recovered() {
      if (cancelled) return;
      pending.recovered();
      try {
        watcher.onRecovered?.();
      } catch (error) {
        failed(error);
      }
    },
    cancel() {
      cancelled = true;
      pending.clear();
      waiting?.resolve();
      waiting = undefined;
    },
    get busy() {
      if (!working || late || cancelled) return undefined;
      if (waiting === undefined) {
        let resolve = () => {};
        const promise = new Promise<void>((settle) => {
          resolve = settle;
        });
        waiting = { promise, resolve };
      }
      return waiting.promise;
    },
    giveUp() {
      late = true;
    },
  };
}

function isPromise(value: void | PromiseLike<void>): value is PromiseLike<void> {
  return typeof (value as PromiseLike<void> | undefined)?.then === "function";
}
