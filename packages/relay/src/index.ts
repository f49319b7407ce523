export type { GroupRelay } from "./groups/group-relay.js";
export type { UpstreamState } from "./groups/upstream/upstream-standing.js";
export type { ServerSettingsInFull, WatchedCollection } from "./groups/upstream/upstream-types.js";
export type { NackPolicy } from "./groups/verdict.js";
export { createRelay, type Relay } from "./relay.js";
export type { RelayedGroup, RelayOptions } from "./relay-options.js";
export { createUpstreamMetrics } from "./upstream-metrics.js";
