import { isDeepStrictEqual } from "node:util";
import type { XdsServer } from "@xdskit/server";
import type { KeptHistory } from "../daemon/revisions/retention.js";
import type { TakenSettings } from "../daemon/settings-watch.js";
import { liveOptions } from "../settings/live-options.js";
import type { RelaySettings, Settings } from "../settings/schema.js";
import { liveKeys, settingsChange } from "../settings/settings-change.js";
import { servedSettings } from "./relay-settings.js";

/**
 * Takes settings over while a relay runs: limits, order, rollouts, history, and which nodes are of which group. What
 * the origin is asked for needs a restart.
 */
export function takesRelaySettings(
  { server, history }: { readonly server: Pick<XdsServer, "reconfigure">; readonly history: Pick<KeptHistory, "use"> },
  settings: RelaySettings,
): (edited: RelaySettings) => Promise<TakenSettings> {
  let inUse = settings;
  return async (edited) => {
    const keys = new Set([...liveKeys].filter((key) => key !== "groups" || isSameAtOrigin(inUse, edited)));
    const { live, restart, next } = settingsChange(inUse as Settings, edited as Settings, keys);
    if (live.length > 0) server.reconfigure(liveOptions(servedSettings(next as RelaySettings), live));
    inUse = next as RelaySettings;
    if (live.includes("state")) await history.use(next.state);
    return { applied: live, restart };
  };
}

/** Whether the groups are the same ones, and ask the origin for the same. */
function isSameAtOrigin(before: RelaySettings, edited: RelaySettings): boolean {
  const asked = ({ groups }: RelaySettings) => groups && new Map(groups.map(({ name, upstream }) => [name, upstream]));
  return isDeepStrictEqual(asked(before), asked(edited));
}
