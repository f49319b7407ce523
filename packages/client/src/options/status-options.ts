import type { Registry } from "@xdskit/api";

/** Options of a status service. */
export interface StatusOptions {
  /** The registry of messages within resources, to hide their secrets. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** The largest answer in bytes. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
}
