import type { Registry } from "@xdskit/api";

/** Options of a status service. */
export interface StatusOptions {
  /** Where messages within resources are looked up, to hide their secrets. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** The largest answer in bytes. Default 64 MiB. */
  readonly mostBytes?: number | undefined;
}
