import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { SharedRolloutHub } from "./shared/shared-rollouts.js";
import { createTargets } from "./targets.js";

/** Rollouts, which bring a change to nodes step by step, and quarantines of contents that clients rejected. */
export function rolloutsPart({ clock, events, types }: Kernel): PluggedPart {
  const targets = createTargets(clock, events);
  return {
    policy: targets,
    answers: {
      rollouts: targets.rollouts,
      quarantines: targets.quarantines,
      async shareRollouts(sharing) {
        const hub = await SharedRolloutHub.open(sharing, clock, types);
        targets.share(hub);
        return hub;
      },
    },
    stats: () => ({ views: targets.stats() }),
    closing: targets.close,
  };
}
