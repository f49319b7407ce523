import type { ResourceName } from "@xdskit/api";
import type { ClientOptions } from "./client-options.js";
import type { TlsSettings } from "./tls-settings.js";

/** The fields of `dynamic_resources` that name the sources of resources. */
export type EnvoySourceField = "ads_config" | "lds_config" | "cds_config";

/** The parts of gRPC's bootstrap besides servers. */
export interface GrpcNames {
  /**
   * The listener that a channel to a target asks for (A47): `xds:///shop`, `xds://authority/shop`. Throws an
   * XdskitError (XDSKIT_BOOTSTRAP) for an unknown authority, and for a target of another kind.
   */
  listenerOf(target: string): ResourceName;
  /**
   * The listener that a server on this `IP:PORT` asks for (A36). Throws an XdskitError (XDSKIT_BOOTSTRAP) if the
   * bootstrap has no template for it.
   */
  serverListenerOf(address: string): ResourceName;
  /** `certificate_providers` of the kind `file_watcher`, by name (A29). */
  readonly certificateProviders: Readonly<Partial<Record<string, TlsSettings>>>;
}

/** A bootstrap: `path`, `text`, or the environment. */
export interface BootstrapSource {
  /** A file with gRPC's bootstrap (JSON) or Envoy's (YAML or JSON). */
  readonly path?: string | undefined;
  /** The bootstrap itself. */
  readonly text?: string | undefined;
  /**
   * Environment variables: `GRPC_XDS_BOOTSTRAP` (a file) or else `GRPC_XDS_BOOTSTRAP_CONFIG` (JSON). Default: those of
   * the process.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Envoy only: the field whose source is used, if the fields name different servers. */
  readonly use?: EnvoySourceField | undefined;
}

/** Options for `createClient`, and the other parts of a bootstrap. */
export interface BootstrapOptions extends ClientOptions {
  readonly kind: "grpc" | "envoy";
  /** gRPC only: its names of listeners, and its certificates. */
  readonly grpc?: GrpcNames | undefined;
}
