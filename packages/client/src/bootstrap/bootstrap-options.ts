import type { ClientOptions } from "../client-options.js";
import type { EnvoySourceField } from "./envoy-bootstrap.js";
import type { GrpcNames } from "./grpc-bootstrap.js";

/** Where a bootstrap is; one of `path` and `text`, or what the environment says. */
export interface BootstrapSource {
  /** A file with gRPC's bootstrap (JSON) or Envoy's (YAML or JSON). */
  readonly path?: string | undefined;
  /** The bootstrap itself. */
  readonly text?: string | undefined;
  /** Where `GRPC_XDS_BOOTSTRAP` (a file) and, if it is not set, `GRPC_XDS_BOOTSTRAP_CONFIG` (the JSON itself) are looked up. Default: the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of Envoy's bootstrap: where resources are to be taken from, if its fields lead to different servers. */
  readonly use?: EnvoySourceField | undefined;
}

/** Options for `createClient`, and what else a bootstrap says. */
export interface BootstrapOptions extends ClientOptions {
  readonly kind: "grpc" | "envoy";
  /** Of gRPC's bootstrap: how it names listeners, and its certificates. */
  readonly grpc?: GrpcNames | undefined;
}
