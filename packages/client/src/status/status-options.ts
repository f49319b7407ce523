import type { Registry } from "@xdskit/api";

/** How a client tells of itself. */
export interface StatusOptions {
  /** Where messages within resources are looked up, to hide their secrets. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** The largest answer in bytes. Default 64 MiB. */
  readonly mostBytes?: number | undefined;
}
