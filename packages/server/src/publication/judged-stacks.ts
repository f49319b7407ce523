import { emptySnapshot, type Snapshot } from "@xdskit/protocol";
import type { LayerStack } from "../configuration/layer-stack.js";
import type { Layers } from "../configuration/layers.js";
import { PlannedLayers, winnerIn } from "../configuration/planned-layers.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { JudgedStack } from "../contracts/parts/judge.js";
import type { SharedStack, SharedStacks } from "./shared-stacks.js";

/** The names of the groups with a stack. */
type GroupsWith = (shared: SharedStack) => readonly string[];

/** The stacks that a planned change touches, as judges see them. */
export function judgedNow(
  stacks: SharedStacks,
  groupsWith: GroupsWith,
  changes: readonly LayerChange[],
): readonly JudgedStack[] {
  const planned = new PlannedLayers(stacks.layers, changes);
  return [...stacks.touchedBy(changes)].flatMap((shared) => {
    const before = shared.newest();
    if (before === undefined || shared.groups === 0) return [];
    const groups = () => groupsWith(shared);
    return [judged(shared.stack, before, planned, groups, (make) => shared.index(make))];
  });
}

/**
 * The same as if these were the layers of the server. Costs their content. `fromNothing`: also the stacks that have
 * nothing yet.
 */
export function judgedOver(
  stacks: SharedStacks,
  groupsWith: GroupsWith,
  changes: readonly LayerChange[],
  { layers, fromNothing }: { readonly layers: Layers; readonly fromNothing: boolean },
): readonly JudgedStack[] {
  const planned = new PlannedLayers(layers, changes);
  return [...stacks.touchedBy(changes)].flatMap((shared) => {
    const stack = shared.over(layers);
    const before = stack.snapshot() ?? (fromNothing ? emptySnapshot() : undefined);
    if (before === undefined || shared.groups === 0) return [];
    const groups = () => groupsWith(shared);
    return [
      judged(stack, before, planned, groups, (make) => {
        const index = make();
        index.update(before);
        return index;
      }),
    ];
  });
}

function judged(
  stack: LayerStack,
  before: Snapshot,
  planned: PlannedLayers,
  groups: JudgedStack["groups"],
  index: JudgedStack["index"],
): JudgedStack {
  const order = stack.order(planned.touched);
  return { order, before, winner: winnerIn(order, planned), index, groups };
}
