export { type Address, formatAddress, parseAddress } from "./address.js";
export { type Clock, systemClock } from "./clock.js";
export {
  type ChangeOptions,
  type Config,
  type ConfigLayer,
  type ConfigUpdate,
  defaultLayer,
  type ResourceSelector,
} from "./config.js";
export { createServer } from "./create-server.js";
export {
  defaultEventLoopOptions,
  type EventLoopBlock,
  type EventLoopOptions,
  type EventLoopStats,
  type WorkDone,
} from "./event-loop/event-loop-stats.js";
export type { ServerEvent, ServerListener } from "./events.js";
export { everyNode, type GroupOf, type GroupSettings, type OnReject } from "./groups.js";
export { defaultKeepalive, type Keepalive } from "./keepalive.js";
export type {
  ConfigArrival,
  ConfigArrivalDoneOptions,
  ConfigArrivalOptions,
  ConfigArrivalOutcome,
  ConfigArrivalRejection,
  ConfigArrivalStatus,
  ConfigArrivalWait,
  NodeSelection,
} from "./ledger/arrival.js";
export type { NodeConfigFilter, NodeStates, NodesFilter } from "./ledger/ledger.js";
export {
  type NodeConfig,
  type NodeState,
  type NodeStatus,
  type RejectionReport,
  type ResourceReport,
  type ResourceState,
  type StreamStatus,
  staleMs,
  type TypeReport,
  type WaitReport,
} from "./ledger/node-status.js";
export { defaultServerLimits, type ServerLimits } from "./limits.js";
export type { LoadReport, LoadReportFilter, LocalityReport } from "./load-reports/load-report.js";
export { defaultLoadReportSettings, type LoadReportSettings } from "./load-reports/load-report-settings.js";
export type { DropTotals, LoadTotals, LocalityTotals } from "./load-reports/load-totals.js";
export type { NodeMatch } from "./node-match.js";
export { type OrderingOptions, ordersItself } from "./node-orders.js";
export {
  defaultOnDemandLimits,
  type EndListener,
  type OnDemandLimits,
  type OnDemandOptions,
  type Supplied,
  type Supply,
  type SupplyLease,
  type SupplyRequest,
} from "./on-demand/options.js";
export { splitVirtualHostName, type VirtualHostName, virtualHostResource } from "./on-demand/virtual-hosts.js";
export type {
  BodyEncoding,
  PollAnswer,
  PollCall,
  PollConnection,
  PollHandler,
  PollRefusal,
  PollTransport,
  SharedBody,
} from "./poll-transport.js";
export { defaultRestOptions, type RestOptions } from "./rest-options.js";
export type { LayerName, LayerUpdate, Source, SourceSink } from "./source.js";
export {
  defaultFolderLimits,
  type FolderGroup,
  type FolderLimits,
  type FolderSourceOptions,
  wholeFolderLayer,
} from "./sources/folder/folder-options.js";
export { createFolderSource } from "./sources/folder/folder-source.js";
export type { AdoptedFile, FolderSummary, SkippedCounts } from "./sources/folder/folder-summary.js";
export { createMemorySource, type MemorySource } from "./sources/memory/memory-source.js";
export type {
  FetchStats,
  GroupStats,
  LayerStats,
  OnDemandStats,
  PollStats,
  ServerStats,
  StreamStats,
  TypeStats,
} from "./stats.js";
export type { CallInfo, LoadStreamInfo, NodeStreamInfo, StreamInfo } from "./stream-info.js";
export type { Renewable, ServerTls, TlsContents } from "./tls/server-tls.js";
export type { Validity } from "./tls/validity.js";
export type {
  Accept,
  Call,
  Connection,
  ConnectionHandler,
  Method,
  Refusal,
  Service,
  ServiceHandler,
  ServiceMethod,
  Transport,
} from "./transport.js";
export { isFromBrowser } from "./transports/from-browser.js";
export { createGrpcTransport, type GrpcTransportOptions } from "./transports/http2/http2-transport.js";
export { listenError } from "./transports/listening.js";
export {
  createMemoryPollTransport,
  type MemoryPoll,
  type MemoryPollClient,
  type MemoryPollTransport,
} from "./transports/memory/memory-polls.js";
export type { MemoryReceiver, MemoryStatus, MemoryStream } from "./transports/memory/memory-stream.js";
export { createMemoryTransport, type MemoryTransport } from "./transports/memory/memory-transport.js";
export { createRestTransport, type RestTransportOptions } from "./transports/rest/rest-transport.js";
export type { QuarantineCause } from "./views/quarantine.js";
export type { Quarantined } from "./views/quarantined.js";
export type { RolloutOutcome } from "./views/rollout.js";
export { defaultRolloutSettings, type RolloutSettings, type RolloutStep } from "./views/rollout-settings.js";
export type { Rollout, RolloutRejection, RolloutState, RolloutStatus } from "./views/rollout-status.js";
export type { LiftableQuarantine, ViewStats } from "./views/views.js";
export { mostWorkers } from "./workers/shared-numbers.js";
export type { Addresses, Listening, ServerOptions, XdsServer } from "./xds-server.js";
