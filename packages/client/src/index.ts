export { type Backoff, type Clock, defaultBackoff } from "@xdskit/api";
export { clientOptionsFromBootstrap } from "./bootstrap/bootstrap.js";
export type { Watch, WatchItem, WatchIterator } from "./contract/watch.js";
export type {
  Collection,
  CollectionWatcher,
  GetOptions,
  ResourceWatcher,
  ServerStatus,
  TypeOf,
  XdsClient,
} from "./contract/xds-client.js";
export type {
  ClusterEndpoints,
  ConfigCluster,
  ConfigIterator,
  ConfigOptions,
  ConfigProblem,
  ConfigRoutes,
  ConfigWatch,
  ConfigWatcher,
  EndpointList,
  XdsConfig,
} from "./contract/xds-config.js";
export { createClient } from "./create-client.js";
export type { ClientEvent, ClientListener } from "./events/client-event.js";
export { type ClientMetric, type ClientMetrics, createClientMetrics } from "./metrics/client-metrics.js";
export { prometheusText } from "./metrics/prometheus-text.js";
export type { BootstrapOptions, BootstrapSource, EnvoySourceField, GrpcNames } from "./options/bootstrap-options.js";
export type { ClientMetricsOptions } from "./options/client-metrics-options.js";
export type {
  ClientLimits,
  ClientOptions,
  FilesSettings,
  GrpcServerSettings,
  NodeSettings,
  RestServerSettings,
  RetainedResources,
  ServerSettings,
} from "./options/client-options.js";
export type { StatusOptions } from "./options/status-options.js";
export type { TlsSettings } from "./options/tls-settings.js";
export type { ValidateLevel } from "./options/validate-level.js";
export { type ServedStatus, serveStatus } from "./status/serve-status.js";
export { createStatusService, type StatusService } from "./status/status-service.js";
