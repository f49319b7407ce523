import { XdskitError } from "@xdskit/api";
import type { WatchIterator } from "../watchers/watch.js";
import { createWatchIterator } from "../watchers/watch-iterator.js";
import type { ConfigWatch, ConfigWatcher, XdsConfig } from "./xds-config.js";

/** A configuration that is read by `for await`; leaving the loop cancels the watch. Who is slow gets the newest. */
export interface ConfigIterator extends WatchIterator<XdsConfig>, ConfigWatch {}

/** Makes an iterator of what a watcher is told. `end` ends it where the watch has ended. */
export function createConfigIterator(
  watchWith: (watcher: ConfigWatcher, end: () => void) => ConfigWatch,
): ConfigIterator {
  let watch: ConfigWatch | undefined;
  const iterator = createWatchIterator<XdsConfig>(
    (told) => {
      let ambient: XdskitError | undefined;
      watch = watchWith(
        {
          onChanged: (config) => {
            told.onChanged(config);
            // What is wrong beside it may not have been read yet.
            if (ambient !== undefined) told.onAmbient?.(ambient);
          },
          onError: (error) => told.onError?.(error),
          onAmbient: (problems) => {
            const [first, ...others] = problems.flatMap(({ error }) => error.findings);
            ambient = first === undefined ? undefined : new XdskitError([first, ...others]);
            if (ambient !== undefined) told.onAmbient?.(ambient);
            else told.onRecovered?.();
          },
        },
        () => iterator.end(),
      );
      return watch;
    },
    (_, later) => later,
  );
  const subscribe: ConfigWatch["subscribe"] = (cluster) => watch?.subscribe(cluster) ?? { cancel() {} };
  return Object.assign(iterator, { subscribe });
}
