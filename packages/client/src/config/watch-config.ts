import { canonicalName, envoyRegistry, isGlobName, type Registry, type ResourceName, XdskitError } from "@xdskit/api";
import type { Watch } from "../contract/watch.js";
import type { XdsClient } from "../contract/xds-client.js";
import type { ConfigOptions, ConfigWatch, ConfigWatcher } from "../contract/xds-config.js";
import { checkClientCall, checkWatcher } from "../options/option-tables.js";
import { createConfigIterator } from "./config-iterator.js";
import { createNeeds } from "./needs/needs.js";
import { Tracker } from "./tracker.js";

/** The tools of a watch of configurations. */
export interface ConfigTools {
  readonly client: Pick<XdsClient, "watch">;
  /** The registry of filters and cluster types. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** Takes the errors that a watcher throws or rejects with. */
  readonly failed: (error: unknown) => void;
  /** Makes a watch end with the client; `end` is called then. Default: the client does not end it. */
  readonly counted?: (<Kind extends Watch>(watch: Kind, end: () => void) => Watch) | undefined;
}

/** The client's `watchConfig`, over its `watch`. */
export function createWatchConfig({ client, registry, failed, counted }: ConfigTools): XdsClient["watchConfig"] {
  const needs = createNeeds(registry ?? envoyRegistry());

  function start(listener: ResourceName, watcher: ConfigWatcher, options: ConfigOptions, end: () => void): ConfigWatch {
    if (listener === "*" || isGlobName(listener)) {
      const message = "a configuration is that of one listener";
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", message, { type: "listener", resource: listener });
    }
    const { authority } = options;
    const tracker = new Tracker({ client, listener: canonicalName(listener), authority, watcher, needs, failed });
    const watch = counted?.(tracker, end) ?? tracker;
    return { cancel: () => watch.cancel(), subscribe: (cluster) => tracker.subscribe(cluster) };
  }
  function watchConfig(
    listener: ResourceName,
    watcherOrOptions: ConfigWatcher | ConfigOptions = {},
    options: ConfigOptions = {},
  ): ConfigWatch {
    if ("onChanged" in watcherOrOptions) {
      checkWatcher("client.watchConfig", watcherOrOptions);
      checkClientCall("client.watchConfig", options);
      return start(listener, watcherOrOptions, options, () => {});
    }
    checkClientCall("client.watchConfig", watcherOrOptions);
    return createConfigIterator((watcher, end) => start(listener, watcher, watcherOrOptions, end));
  }
  return watchConfig as XdsClient["watchConfig"];
}
