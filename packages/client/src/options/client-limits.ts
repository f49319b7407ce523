import { defaultClientStreamLimits } from "@xdskit/protocol";
import type { ClientLimits } from "./client-options.js";

const { resourcesPerResponse, resourcesPerType, retainedBytes } = defaultClientStreamLimits;

/** See `ClientLimits`. The protocol's own limits apply as they are. */
export const defaultClientLimits: ClientLimits = {
  responseBytes: 64 * 1024 * 1024,
  resourcesPerResponse,
  resourcesPerType,
  retainedBytes,
  watcherMs: 30_000,
};
