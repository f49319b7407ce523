import type { StreamLimits } from "./options.js";

/**
 * Limits far above the needs of real clients (an Envoy with 50,000 clusters names 50,000 load assignments). They are
 * low enough that a client which always names new things cannot take the memory of all others.
 */
export const defaultStreamLimits: StreamLimits = {
  namesPerRequest: 100_000,
  namesPerStream: 200_000,
  nodeBytes: 1024 * 1024,
  typesPerStream: 50,
};

/**
 * The number of characters that the names of one stream may have together. A name may be as long as a request, and a
 * locator holds thousands of characters.
 */
export function maxCharacters({ namesPerStream }: StreamLimits): number {
  return Math.max(1024 * 1024, 256 * namesPerStream);
}
