import type { Watch, WatchItem, WatchIterator } from "../contract/watch.js";
import type { Watcher } from "./delivery.js";
import { type Merge, Pending } from "./pending.js";

/** A watch that is read by `for await`. It never holds up reading: a slow reader gets the newest value. */
export function createWatchIterator<Value>(
  start: (watcher: Watcher<Value>) => Watch,
  merge: Merge<Value>,
): WatchIterator<Value> & { end(): void } {
  const pending = new Pending(merge);
  const readers: ((result: IteratorResult<WatchItem<Value>>) => void)[] = [];
  let ended = false;

  function serve(): void {
    while (readers.length > 0) {
      const item = pending.take();
      if (item === undefined) return;
      readers.shift()?.({ done: false, value: item });
    }
  }
  function end(): void {
    ended = true;
    pending.clear();
    for (const reader of readers.splice(0)) reader({ done: true, value: undefined });
  }
  const watch = start({
    onChanged(value) {
      pending.valueChanged(value);
      serve();
    },
    onError(error) {
      pending.error(error);
      serve();
    },
    onAmbient(error) {
      pending.ambient(error);
      serve();
    },
    onRecovered: () => pending.recovered(),
  });
  const cancel = () => {
    watch.cancel();
    end();
  };
  const iterator: WatchIterator<Value> & { end(): void } = {
    next() {
      if (ended) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => {
        readers.push(resolve);
        serve();
      });
    },
    return() {
      cancel();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => iterator,
    cancel,
    end,
  };
  return iterator;
}
