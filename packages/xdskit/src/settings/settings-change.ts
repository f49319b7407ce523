import { isDeepStrictEqual } from "node:util";
import { snakeCase } from "@xdskit/api";
import { fixedLimits } from "@xdskit/server";
import type { Settings } from "./schema.js";

/** The changes of an edit of the settings, by key. */
export interface SettingsChange {
  /** These can be taken while the server runs. */
  readonly live: readonly string[];
  /** These need a restart, such as `tls` or `limits.request_bytes`. */
  readonly restart: readonly string[];
  /** The settings, with all that needs a restart as it is in use. */
  readonly next: Settings;
}

type Key = keyof Settings;

/** The settings that say who may do what. */
export const accessKeys = ["tokens", "roles", "trusted_proxies"] as const satisfies readonly Key[];

/** The settings that a running server can take over. */
export const liveKeys: ReadonlySet<Key> = new Set([
  "identities",
  "groups",
  "references",
  "references_except",
  "limits",
  "ordering",
  "rollout",
  "on_reject",
  "state",
  ...accessKeys,
] as const);

/** The limits that need a restart. */
export const fixedKeys = fixedLimits.map(snakeCase);

/** Compares settings with those in use. `live`: the keys that this server can take over. */
export function settingsChange(inUse: Settings, edited: Settings, live: ReadonlySet<Key> = liveKeys): SettingsChange {
  const next: Settings = { ...edited };
  const changed: string[] = [];
  const restart: string[] = [];
  for (const key of new Set([...Object.keys(inUse), ...Object.keys(edited)]) as Set<Key>) {
    if (isDeepStrictEqual(inUse[key], edited[key])) continue;
    if (live.has(key) && key !== "limits") changed.push(key);
    else if (live.has(key)) {
      const limits = { ...edited.limits };
      for (const fixed of fixedKeys) {
        const before = inUse.limits?.[fixed];
        if (before !== limits[fixed]) restart.push(`limits.${fixed}`);
        if (before === undefined) delete limits[fixed];
        else limits[fixed] = before;
      }
      next.limits = limits;
      if (!isDeepStrictEqual(limits, { ...inUse.limits })) changed.push(key);
    } else {
      restart.push(key);
      Object.assign(next, { [key]: inUse[key] });
    }
  }
  return { live: changed, restart, next };
}
