import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { Arrivals } from "./arrivals.js";

/** How far a change has come, and who waits for it. */
export function arrivalsPart({ streams, clock, events }: Kernel): PluggedPart {
  const arrivals = new Arrivals(streams, clock, events);
  return {
    progress: arrivals,
    answers: {
      arrivalOf: (revision, change) => arrivals.of(revision, change),
      contentArrival: (contents) => arrivals.ofContents(contents),
    },
    closing: () => arrivals.close(),
  };
}
