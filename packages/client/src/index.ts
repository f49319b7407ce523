export { type Backoff, defaultBackoff } from "./backoff.js";
export { clientOptionsFromBootstrap } from "./bootstrap/bootstrap.js";
export type { BootstrapOptions, BootstrapSource } from "./bootstrap/bootstrap-options.js";
export type { EnvoySourceField } from "./bootstrap/envoy-bootstrap.js";
export type { GrpcNames } from "./bootstrap/grpc-bootstrap.js";
export type { ClientEvent, ClientListener } from "./client-event.js";
export type {
  ClientLimits,
  ClientOptions,
  FilesSettings,
  GrpcServerSettings,
  HeldResources,
  NodeSettings,
  RestServerSettings,
  ServerSettings,
} from "./client-options.js";
export type { Clock } from "./clock.js";
export type { ConfigIterator } from "./config/config-iterator.js";
export type {
  ClusterEndpoints,
  ConfigCluster,
  ConfigOptions,
  ConfigProblem,
  ConfigRoutes,
  ConfigWatch,
  ConfigWatcher,
  XdsConfig,
} from "./config/xds-config.js";
export { createClient } from "./create-client.js";
export { type ClientMetric, type ClientMetrics, createClientMetrics } from "./metrics/client-metrics.js";
export type { ClientMetricsOptions } from "./metrics/client-metrics-options.js";
export { prometheusText } from "./metrics/prometheus-text.js";
export { type ServedStatus, serveStatus } from "./status/serve-status.js";
export type { StatusOptions } from "./status/status-options.js";
export { createStatusService, type StatusService } from "./status/status-service.js";
export type { TlsSettings } from "./tls.js";
export type { ValidateLevel } from "./validate-level.js";
export type { Watch, WatchItem, WatchIterator } from "./watchers/watch.js";
export type {
  Collection,
  CollectionWatcher,
  GetOptions,
  ResourceWatcher,
  ServerStatus,
  TypeOf,
  XdsClient,
} from "./xds-client.js";
