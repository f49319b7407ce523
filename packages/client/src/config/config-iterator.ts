import { XdskitError } from "@xdskit/api";
import type { ConfigIterator, ConfigWatch, ConfigWatcher, XdsConfig } from "../contract/xds-config.js";
import { createWatchIterator } from "../watchers/watch-iterator.js";

/** Makes an iterator out of the calls to a watcher. `end` ends the iterator when the watch has ended. */
export function createConfigIterator(
  watchWith: (watcher: ConfigWatcher, end: () => void) => ConfigWatch,
): ConfigIterator {
  let watch: ConfigWatch | undefined;
  const iterator = createWatchIterator<XdsConfig>(
    (notify) => {
      let ambient: XdskitError | undefined;
      watch = watchWith(
        {
          onChanged: (config) => {
            notify.onChanged(config);
            // The program may not have read the ambient error yet.
            if (ambient !== undefined) notify.onAmbient?.(ambient);
          },
          onError: (error) => notify.onError?.(error),
          onAmbient: (problems) => {
            const [first, ...others] = problems.flatMap(({ error }) => error.findings);
            ambient = first === undefined ? undefined : new XdskitError([first, ...others]);
            if (ambient !== undefined) notify.onAmbient?.(ambient);
            else notify.onRecovered?.();
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
