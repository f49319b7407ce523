import type { AskingOptions } from "../settings/options/asking-options.js";
import type { OutputFormat } from "./output/output-format.js";

export interface WatchOptions extends AskingOptions {
  readonly command: "watch" | "get";
  /** As the user typed it. */
  readonly type: string;
  /** Empty means the wildcard. */
  readonly names: readonly string[];
  /** `TYPE=NAME,…` each. */
  readonly also?: readonly string[] | undefined;
  readonly server?: readonly string[] | undefined;
  readonly ads?: boolean | undefined;
  readonly rest?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly watchedDirectory?: string | undefined;
  readonly descriptors?: readonly string[] | undefined;
  readonly output: OutputFormat;
  readonly showSecrets?: boolean | undefined;
  readonly timeoutMs: number | undefined;
  /** Names come and go by standard input. */
  readonly stdin?: boolean | undefined;
}
