export { type Clock, systemClock } from "@xdskit/api";
export { defaultKeepalive, type Keepalive } from "@xdskit/grpc-server";
export {
  type Address,
  formatAddress,
  type ListenAddress,
  parseAddress,
  parseListenAddress,
  type SocketPath,
} from "./basics/address.js";
export { matchesGlob } from "./basics/glob.js";
export type { HistogramStats } from "./basics/histogram.js";
export { dropOldest } from "./basics/maps.js";
export { RateLimit } from "./basics/rate-limit.js";
export { foreignFinding } from "./configuration/authorities.js";
export { everyNode } from "./configuration/groups.js";
export { createIsOwnName } from "./configuration/own-names.js";
export type * from "./contracts/config.js";
export { defaultLayer } from "./contracts/config.js";
export type { ServerEvent, ServerListener } from "./contracts/events.js";
export type * from "./contracts/group.js";
export type * from "./contracts/group-preview.js";
export type * from "./contracts/kernel-options.js";
export type * from "./contracts/layer-change.js";
export type * from "./contracts/nodes/arrival.js";
export type * from "./contracts/nodes/load-report.js";
export type * from "./contracts/nodes/load-totals.js";
export type * from "./contracts/nodes/node-history.js";
export type * from "./contracts/nodes/node-status.js";
export {
  nodeStanding,
  nodeStates,
  noNodes,
  rankOf,
  resourceStates,
  staleMs,
  worst,
} from "./contracts/nodes/node-status.js";
export type { OpenStream, ReportedStream, RolloutAhead } from "./contracts/nodes/reported-stream.js";
export type * from "./contracts/nodes/status-peers.js";
export type * from "./contracts/nodes/stream-info.js";
export type * from "./contracts/parts/judge.js";
export type * from "./contracts/parts/kernel.js";
export type * from "./contracts/parts/part.js";
export type * from "./contracts/parts/progress.js";
export type * from "./contracts/parts/snapshot-index.js";
export type * from "./contracts/parts/supply.js";
export type * from "./contracts/parts/target-policy.js";
export type * from "./contracts/poll-transport.js";
export type * from "./contracts/rollouts/quarantined.js";
export type * from "./contracts/rollouts/rollout-sharing.js";
export type * from "./contracts/rollouts/rollout-status.js";
export { shownAtMost } from "./contracts/rollouts/rollout-status.js";
export type * from "./contracts/server-options.js";
export type * from "./contracts/source.js";
export type * from "./contracts/stats.js";
export type * from "./contracts/stores/layer-writer.js";
export type * from "./contracts/stores/shared-keys.js";
export type * from "./contracts/stores/store.js";
export type * from "./contracts/transport.js";
export { serviceName } from "./contracts/transport.js";
export type * from "./contracts/xds-server.js";
export { createServer } from "./create-server.js";
export { defaultParts } from "./default-parts.js";
export type {
  EventLoopBlock,
  EventLoopStats,
  WorkDone,
} from "./event-loop/event-loop-stats.js";
export type { Caller, CallerRefused } from "./identity/caller.js";
export { certificateNames } from "./identity/certificate-names.js";
export { bearerOf, type Evidence, evidenceFrom, noEvidence } from "./identity/evidence.js";
export { type IdentityRule, identityFaults } from "./identity/identity-rule.js";
export { type Networks, readNetworks } from "./identity/networks.js";
export { checkWhen, createRules, type Proof, type Rules, type RulesOptions } from "./identity/rules.js";
export type { WhenFault } from "./identity/tokens/jwt-condition.js";
export { defaultAlgorithms, type JwtWhen, knownAlgorithms } from "./identity/tokens/jwt-when.js";
export type { TokenReview } from "./identity/tokens/reviewed-tokens.js";
export type { When } from "./identity/when.js";
export { splitVirtualHostName, type VirtualHostName, virtualHostResource } from "./parts/on-demand/virtual-hosts.js";
export { copiedRollouts } from "./parts/rollouts/records/copied-rollouts.js";
export type { GroupOf, GroupSettings, LayerName, OnReject } from "./settings/group-settings.js";
export { defaultServerLimits, dividedLimits, fixedLimits, type ServerLimits } from "./settings/limits.js";
export { defaultLoadReportSettings, type LoadReportSettings } from "./settings/load-report-settings.js";
export type { NodeMatch } from "./settings/node-match.js";
export {
  defaultOnDemandLimits,
  type EndListener,
  type OnDemandLimits,
  type OnDemandOptions,
  type Supplied,
  type Supplier,
  type SupplyLease,
  type SupplyRequest,
} from "./settings/on-demand-options.js";
export type { OrderingOptions } from "./settings/ordering-options.js";
export { defaultRestOptions, type RestOptions } from "./settings/rest-options.js";
export { defaultRolloutSettings, type RolloutSettings, type RolloutStep } from "./settings/rollout-settings.js";
export {
  defaultFolderLimits,
  defaultFolderTimes,
  type FolderGroup,
  type FolderLimits,
  type FolderSourceOptions,
  wholeFolderLayer,
} from "./sources/folder/folder-options.js";
export { createFolderSource } from "./sources/folder/folder-source.js";
export type { AdoptedFile, FolderSummary, SkippedCounts } from "./sources/folder/folder-summary.js";
export { storeFinding } from "./stores/basics/store-finding.js";
export { CopiedStore, type CopiedStoreOptions } from "./stores/copied/copied-store.js";
export { StoreCopy } from "./stores/copied/store-copy.js";
export { decodeStored, encodeStored } from "./stores/history/stored-content.js";
export { AheadFile } from "./stores/kept/ahead-file.js";
export type { KeptSourceOptions, RollbackTerms } from "./stores/kept/kept-options.js";
export { KeptSource } from "./stores/kept/kept-source.js";
export type { TimeLeft } from "./stores/leases/lease-book.js";
export { createMemoryStore } from "./stores/tables/memory-store.js";
export { type OtherThread, RevisionStore } from "./stores/tables/revision-store.js";
export { type Reader, type TableName, type Tables, tableNames, type Writer } from "./stores/tables/tables.js";
export type { StoreAway } from "./stores/written/store-follower.js";
export { WrittenLayers } from "./stores/written/written-layers.js";
export type { WrittenLayersOptions } from "./stores/written/written-layers-options.js";
export { ordersItself } from "./streams/node-orders.js";
export { type CertificatesListener, createCertificates } from "./tls/certificates.js";
export {
  asksForCertificates,
  type Renewable,
  type ServerTls,
  type TlsContents,
  tlsSource,
} from "./tls/server-tls.js";
export type { TlsSource } from "./tls/tls-source.js";
export type { CertificateDates, Validity } from "./tls/validity.js";
export { isFromBrowser } from "./transports/from-browser.js";
export { createGrpcTransport, type GrpcTransportOptions } from "./transports/grpc/grpc-transport.js";
export { listenError } from "./transports/listening.js";
export {
  createMemoryPollTransport,
  type MemoryPoll,
  type MemoryPollClient,
  type MemoryPollTransport,
} from "./transports/memory/memory-polls.js";
export type { MemoryReceiver, MemoryStatus, MemoryStream } from "./transports/memory/memory-stream.js";
export { createMemoryTransport, type MemoryTransport } from "./transports/memory/memory-transport.js";
export { followRefused } from "./transports/refused-connections.js";
export { createRestTransport, type RestTransportOptions } from "./transports/rest/rest-transport.js";
export { listenAt, socketRefusal } from "./transports/socket-file.js";
