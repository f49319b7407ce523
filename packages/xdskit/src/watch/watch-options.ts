import type { ValidateLevel } from "@xdskit/client";
import type { TlsOptions } from "../settings/tls-options.js";
import type { OutputFormat } from "./output/output-format.js";

export interface WatchOptions extends TlsOptions {
  readonly command: "watch" | "get";
  /** As the user typed it. */
  readonly type: string;
  /** Empty means the wildcard. */
  readonly names: readonly string[];
  /** `TYPE=NAME,…` each. */
  readonly also?: readonly string[] | undefined;
  readonly server?: readonly string[] | undefined;
  readonly variant?: "sotw" | "delta" | undefined;
  readonly ads?: boolean | undefined;
  readonly api?: "v2" | "v3" | undefined;
  readonly rest?: readonly string[] | undefined;
  /** Milliseconds. */
  readonly refreshDelay?: number | undefined;
  readonly path?: string | undefined;
  readonly watchedDirectory?: string | undefined;
  readonly bootstrap?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly nodeCluster?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly descriptors?: readonly string[] | undefined;
  /** Default `types`: the user wants to see what there is. */
  readonly validate?: ValidateLevel | undefined;
  readonly output: OutputFormat;
  readonly showSecrets?: boolean | undefined;
  readonly timeoutMs: number | undefined;
  /** Names come and go by standard input. */
  readonly stdin?: boolean | undefined;
}
