export type { Backoff } from "./backoff.js";
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
export type { TlsSettings } from "./tls.js";
export type {
  Collection,
  CollectionWatcher,
  GetOptions,
  ResourceWatcher,
  ServerStatus,
  TypeOf,
  Watch,
  WatchItem,
  WatchIterator,
  XdsClient,
} from "./xds-client.js";
