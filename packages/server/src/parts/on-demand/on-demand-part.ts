import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { OnDemand } from "./on-demand.js";

/** Asks a program for names that clients ask for (`onDemand`). Throws an XdskitError if the options are wrong. */
export function onDemandPart(kernel: Kernel): PluggedPart {
  if (kernel.options.onDemand === undefined) return {};
  const supply = new OnDemand(kernel.options.onDemand, kernel);
  return {
    supply,
    stats: () => ({ onDemand: supply.stats() }),
    closed: () => supply.close(),
  };
}
