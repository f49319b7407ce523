import type { UseLimits } from "./client-use.js";

/** The limits on the cost of clients. A call beyond a limit ends with RESOURCE_EXHAUSTED; other calls go on. */
export interface GrpcLimits extends UseLimits {
  /**
   * Bytes of one request message, after decompression. Default 16 MiB: Envoy's node of 61 kB and 100,000 names of 160
   * bytes.
   */
  readonly requestBytes: number;
  /**
   * Streams that are open on one HTTP/2 connection; honest clients are told it (SETTINGS_MAX_CONCURRENT_STREAMS), and
   * open another. Default 20,000: without ADS an Envoy has one for each load assignment and each route configuration.
   */
  readonly streamsPerConnection: number;
}

/** The default limits of a server. */
export const defaultGrpcLimits: GrpcLimits = {
  requestBytes: 16 * 1024 * 1024,
  streamsPerConnection: 20_000,
  streamsPerAddress: 50_000,
  partialRequestBytes: 256 * 1024 * 1024,
  partialRequestBytesPerAddress: 128 * 1024 * 1024,
  partialRequestBytesPerConnection: 32 * 1024 * 1024,
};
