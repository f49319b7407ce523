import { layerStats, type ServerStats } from "../contracts/stats.js";
import type { Counters } from "../publication/counters.js";
import type { ServerCore } from "./server-core.js";

export function serverStats(core: ServerCore): Omit<ServerStats, "certificate"> {
  const { counters, publication, parts, loop, layers } = core;
  return {
    ...countersOf(counters),
    polls: counters.polls,
    pollsRefused: counters.pollsRefused,
    callersRefused: counters.callersRefused,
    identityLimits: counters.identityLimits,
    nodes: publication.nodes,
    groups: publication.groups,
    ...parts.stats(),
    eventLoop: loop?.stats(),
    configuration: {
      applied: counters.configurationsApplied,
      refused: counters.configurationsRefused,
      layers: layers.names.map((name) => layerStats(name, layers.get(name))),
    },
  };
}

/** The stream counters as of this call. */
function countersOf({ streams, types, fetches, refused, waitsEnded, latencies }: Counters) {
  const { lags, stageWaits, sourceDelays } = latencies;
  return { streams, types, lags, stageWaits, sourceDelays, fetches, refused, waitsEnded };
}
