import type { ClientStreamLimits } from "./contract.js";

/** All limits of a client. */
export type Limits = ClientStreamLimits;

/**
 * Far above the numbers of real servers. An Envoy's `error_detail` has 4,096 characters at most, and servers read that
 * much.
 */
export const defaultClientStreamLimits: Limits = {
  resourcesPerResponse: 500_000,
  resourcesPerType: 500_000,
  retainedBytes: 1536 * 1024 * 1024,
  errorCharacters: 2_000,
};
