import type { ClientLimits } from "./client-options.js";

/** See `ClientLimits`. */
export const defaultClientLimits: ClientLimits = {
  responseBytes: 64 * 1024 * 1024,
  resourcesPerResponse: 500_000,
  resourcesPerType: 500_000,
  heldBytes: 1536 * 1024 * 1024,
  watcherMs: 30_000,
};
