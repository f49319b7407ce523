import type { WhereIs } from "@xdskit/admin";
import type { AdminOptions } from "@xdskit/admin/listener";
import type { Served } from "./served.js";

/** What the admin port shows of what is served. */
export function adminPartsOf(served: Served): AdminOptions {
  const { server, registry, layers, onRevision, rollouts } = served;
  const whereIs: WhereIs = (group, { type, key }) => {
    const found = server.types.byTypeUrl(type);
    return found && served.whereIs(group, { type: found.type, key });
  };
  return {
    registry,
    layers,
    onRevision,
    rollouts,
    whereIs,
    store: { away: served.storeAway, numbers: served.storeNumbers, trouble: served.stateTrouble },
    metrics: () => served.metrics?.() ?? "",
  };
}
