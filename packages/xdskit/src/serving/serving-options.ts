import type { Address } from "@xdskit/server/address";
import type { LogFormat, LogLevel } from "../output/log-options.js";
import type { ToFilesSettings } from "../to-files/to-files.js";

/** The options of every command that serves. */
export interface ServingOptions {
  readonly grpc: Address;
  /** Undefined: no listener. */
  readonly rest: Address | undefined;
  /** Milliseconds; undefined: what the settings say. */
  readonly restHold?: number;
  readonly admin: Address;
  /** Undefined: no files are written. */
  readonly toFiles: ToFilesSettings | undefined;
  readonly descriptors: readonly string[];
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}
