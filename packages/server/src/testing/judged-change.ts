import type { Snapshot } from "@xdskit/protocol";
import { PlannedLayers, winnerIn } from "../configuration/planned-layers.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { JudgedChange, JudgedStack } from "../contracts/parts/judge.js";
import type { SnapshotIndex } from "../contracts/parts/snapshot-index.js";
import type { LayerName } from "../settings/group-settings.js";

/** A change of the layers of the only group, as a judge gets it; `order`: of the layers, `index`: of `before`. */
export function judgedChange(
  layers: ConstructorParameters<typeof PlannedLayers>[0],
  changes: readonly LayerChange[],
  { before, order, index }: { before: Snapshot; order: readonly LayerName[]; index: SnapshotIndex },
): JudgedChange {
  const winner = winnerIn(order, new PlannedLayers(layers, changes));
  const stack: JudgedStack = { before, order, winner, groups: () => ["all"], index: () => index as never };
  return { changes, stacks: [stack], whereIs: () => undefined, isOwnName: () => true };
}
