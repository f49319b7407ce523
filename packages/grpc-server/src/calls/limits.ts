import type { UseLimits } from "./client-use.js";

/** What clients may cost. A call beyond a limit ends with RESOURCE_EXHAUSTED; other calls go on. */
export interface GrpcLimits extends UseLimits {
  /** Bytes of one request message, after decompression. Default 16 MiB. */
  readonly requestBytes: number;
  /**
   * Calls that are open at once on one connection. Clients are told (SETTINGS_MAX_CONCURRENT_STREAMS). Default
   * 20,000.
   */
  readonly streamsPerConnection: number;
}

/** The limits of a server without limits of its own. */
export const defaultGrpcLimits: GrpcLimits = {
  requestBytes: 16 * 1024 * 1024,
  streamsPerConnection: 20_000,
  streamsPerAddress: 50_000,
  partialRequestBytes: 256 * 1024 * 1024,
  partialRequestBytesPerAddress: 128 * 1024 * 1024,
  partialRequestBytesPerConnection: 32 * 1024 * 1024,
};
