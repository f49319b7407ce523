export { type ClusterOptions, dnsCluster, type EdsClusterOptions, edsCluster, staticCluster } from "./clusters.js";
export type { ConfigSourceFields } from "./config-source.js";
export {
  type EndpointOption,
  type LoadAssignmentOptions,
  type LocalityOption,
  loadAssignment,
  type SocketOption,
} from "./endpoints.js";
export type { BesideFields } from "./fields.js";
export {
  type GrpcListenerOptions,
  type GrpcServerListenerOptions,
  grpcListener,
  grpcServerListener,
  type HttpListenerOptions,
  httpListener,
} from "./listeners.js";
export {
  type ExtensionConfigOptions,
  extensionConfig,
  type RuntimeLayerOptions,
  runtimeLayer,
  type StdoutAccessLogOptions,
  stdoutAccessLog,
} from "./others.js";
export {
  type RouteConfigurationOptions,
  type RouteOption,
  routeConfiguration,
  type VirtualHostOption,
} from "./routes.js";
export {
  type CertificateSecretOptions,
  certificateSecret,
  type PemSource,
  type TrustedCaSecretOptions,
  trustedCaSecret,
} from "./secrets.js";
