export type { GroupRelay } from "./groups/group-relay.js";
export type { UpstreamState } from "./groups/upstream/upstream-standing.js";
export type { ServerSettingsInFull, WatchedCollection } from "./groups/upstream/upstream-types.js";
export type { NackPolicy } from "./groups/verdict.js";
export { createRelay, type Relay, type RelayedGroup, type RelayOptions } from "./relay.js";
export { createUpstreamMetrics } from "./upstream-metrics.js";
