import type { StreamLimits } from "./options.js";

/**
 * Far above what real clients need (an Envoy with 50,000 clusters names 50,000 load assignments), and low enough that a
 * client which names ever new things cannot take the memory of all others.
 */
export const defaultStreamLimits: StreamLimits = {
  namesPerRequest: 100_000,
  namesPerStream: 200_000,
  nodeBytes: 1024 * 1024,
  typesPerStream: 50,
};

/**
 * Characters that the names of one stream may have together: a name may be as long as a request, and a locator holds
 * thousands of them.
 */
export function mostCharacters({ namesPerStream }: StreamLimits): number {
  return Math.max(1024 * 1024, 256 * namesPerStream);
}
