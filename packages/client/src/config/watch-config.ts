import { canonicalName, envoyRegistry, isGlobName, type Registry, type ResourceName, XdskitError } from "@xdskit/api";
import type { XdsClient } from "../xds-client.js";
import { type ConfigIterator, createConfigIterator } from "./config-iterator.js";
import { createNeeds } from "./needs.js";
import { Tracker } from "./tracker.js";
import type { ConfigOptions, ConfigWatch, ConfigWatcher } from "./xds-config.js";

/** What `watchConfig` needs to know beside what is asked of it. */
export interface ConfigSetting {
  /** Where filters and cluster types are looked up. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** Takes what a watcher throws or rejects with. Default: nothing is done about it. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

/**
 * Watches a listener with all that it leads to: listener → routes → clusters → endpoints, as gRPC's A74 does. Nothing is told before each part is known, be it
 * that it cannot be had. Throws an XdskitError for a collection, and what the client's `watch` throws.
 */
export function watchConfig(
  client: Pick<XdsClient, "watch">,
  listener: ResourceName,
  watcher: ConfigWatcher,
  options?: ConfigOptions,
  setting?: ConfigSetting,
): ConfigWatch {
  if (listener === "*" || isGlobName(listener))
    throw XdskitError.of("XDSKIT_CLIENT_OPTION", "a configuration is that of one listener", { resource: listener });
  return new Tracker({
    client,
    listener: canonicalName(listener),
    authority: options?.authority,
    watcher,
    needs: createNeeds(setting?.registry ?? envoyRegistry()),
    failed: setting?.failed ?? (() => {}),
  });
}

/** The same as an iterator. */
export function iterateConfig(
  client: Pick<XdsClient, "watch">,
  listener: ResourceName,
  options?: ConfigOptions,
  setting?: ConfigSetting,
): ConfigIterator {
  return createConfigIterator((watcher) => watchConfig(client, listener, watcher, options, setting));
}
