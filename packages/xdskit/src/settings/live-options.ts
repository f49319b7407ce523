import type { LiveOptions } from "@xdskit/server";
import type { Settings } from "./schema.js";
import { serverOptions } from "./server-settings.js";
import { limitsOfWorker } from "./worker-limits.js";

/** What a running server is told of settings. `live`: the keys that have changed; `workers`: processes that serve. */
export function liveOptions(next: Settings, live: readonly string[], workers = 1): LiveOptions {
  const { identities, groups, limits, ordering, rollout, onReject, references, referencesExcept } = serverOptions(next);
  return {
    // Rules ask for tokens: streams of a token that is gone must end.
    ...(live.some((key) => ["identities", "tokens"].includes(key)) ? { identities } : {}),
    ...(live.includes("references") ? { references: references ?? "refuse" } : {}),
    ...(live.includes("references_except") ? { referencesExcept } : {}),
    ...(live.includes("limits") ? { limits: limitsOfWorker(limits, workers) } : {}),
    ...(live.includes("ordering") ? { ordering } : {}),
    ...(live.some((key) => ["groups", "rollout", "on_reject"].includes(key)) ? { groups, rollout, onReject } : {}),
  };
}
