import { XdskitError } from "@xdskit/api";
import type { WatchItem } from "../xds-client.js";
import type { ConfigWatch, ConfigWatcher, XdsConfig } from "./xds-config.js";

/** A configuration that is read by `for await`; leaving the loop cancels the watch. Who is slow gets the newest. */
export interface ConfigIterator extends AsyncIterableIterator<WatchItem<XdsConfig>>, ConfigWatch {}

/** Makes an iterator of what a watcher is told. */
export function createConfigIterator(watchWith: (watcher: ConfigWatcher) => ConfigWatch): ConfigIterator {
  /** The newest of what is to be used, and of what is wrong beside it. */
  let main: WatchItem<XdsConfig> | undefined;
  let ambient: WatchItem<XdsConfig> | undefined;
  let isOver = false;
  const readers: ((result: IteratorResult<WatchItem<XdsConfig>>) => void)[] = [];
  const done = { done: true, value: undefined } as const;

  const take = (): WatchItem<XdsConfig> | undefined => {
    const value = main ?? ambient;
    if (value === main) main = undefined;
    else ambient = undefined;
    return value;
  };
  const serve = () => {
    while (readers.length > 0) {
      const value = take();
      if (value === undefined) return;
      readers.shift()?.({ done: false, value });
    }
  };
  const watch = watchWith({
    onChanged: (value) => {
      main = { kind: "changed", value };
      serve();
    },
    onError: (error) => {
      main = { kind: "error", error };
      serve();
    },
    onAmbient: (problems) => {
      const [first, ...others] = problems.flatMap(({ error }) => error.findings);
      ambient = first === undefined ? undefined : { kind: "ambient", error: new XdskitError([first, ...others]) };
      serve();
    },
  });
  const cancel = () => {
    isOver = true;
    watch.cancel();
    for (const reader of readers.splice(0)) reader(done);
  };
  return {
    subscribe: (cluster) => watch.subscribe(cluster),
    cancel,
    next: () => {
      if (isOver) return Promise.resolve(done);
      return new Promise((resolve) => {
        readers.push(resolve);
        serve();
      });
    },
    return: () => {
      cancel();
      return Promise.resolve(done);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
