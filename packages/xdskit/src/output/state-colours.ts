import type { Colour } from "./colours.js";

/** The states of nodes, from the best to the worst, and those that need attention stand out. */
export const nodeColours = {
  synced: "good",
  "held-back": "warning",
  pending: "warning",
  stale: "error",
  rejected: "error",
} as const satisfies Readonly<Record<string, Colour>>;

/** Those of single resources, too. */
export const stateColours: Readonly<Record<string, Colour>> = { ...nodeColours, sent: "warning", missing: "warning" };
