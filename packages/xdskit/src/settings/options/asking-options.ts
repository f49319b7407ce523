import type { ValidateLevel } from "@xdskit/client";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { TlsOptions } from "./tls-options.js";

/** How a command asks management servers, as `watch`, `get` and `relay` do. */
export interface AskingOptions extends TlsOptions {
  readonly variant?: SotwOrDelta | undefined;
  readonly api?: "v2" | "v3" | undefined;
  /** REST: milliseconds. */
  readonly refreshDelay?: number | undefined;
  /** A bootstrap file of gRPC or Envoy. */
  readonly bootstrap?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly nodeCluster?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Default `types`: the user wants to see what there is. */
  readonly validate?: ValidateLevel | undefined;
}
