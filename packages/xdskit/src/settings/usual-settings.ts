import { defaultClientStreamLimits } from "@xdskit/protocol";
import { defaultOnDemandLimits } from "@xdskit/server";

// What holds where neither the command line nor a file says something; described-settings.ts shows it.

/** How many revisions of each layer are kept, how many more that leases made, and how long. */
export const usualHistory = { revisions: 1_000, leases: 5_000, ageMs: 90 * 24 * 3_600_000 };

/** What a relay asks of its origin, and how. */
export const usualUpstream = {
  variant: "delta",
  perType: false,
  api: "v3",
  refreshDelayMs: 1_000,
  prefetch: false,
  nack: "all",
  ackWaitMs: 3_000,
  holdMs: 15_000,
  validate: "types",
  retainedBytes: defaultClientStreamLimits.retainedBytes,
  names: defaultOnDemandLimits.names,
} as const;
