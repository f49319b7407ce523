import { idOf } from "../basics/id-of.js";
import type { LayerUpdate } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";

/** One change of each layer that does what two changes do, one after the other. */
export function mergedUpdates(first: readonly LayerUpdate[], second: readonly LayerUpdate[]): readonly LayerUpdate[] {
  const merged = new Map<LayerName, LayerUpdate>(first.map((update) => [update.layer, update]));
  for (const update of second) {
    const before = merged.get(update.layer);
    merged.set(update.layer, before === undefined || update.kind === "replace" ? update : after(before, update));
  }
  return [...merged.values()];
}

/** Names of resources are the keys of folders' and programs' layers: see `LayerUpdate.remove`. */
function after(before: LayerUpdate, { layer, upsert, remove = [], files = [] }: LayerUpdate): LayerUpdate {
  const merged = new Map(before.upsert.map((one) => [idOf(one), one]));
  const gone = new Map((before.remove ?? []).map((one) => [idOf({ type: one.type, key: one.name }), one]));
  for (const one of remove) {
    const id = idOf({ type: one.type, key: one.name });
    gone.set(id, one);
    merged.delete(id);
  }
  for (const one of upsert) merged.set(idOf(one), one);
  const from = new Set([...(before.files ?? []), ...files]);
  return {
    layer,
    kind: before.kind,
    upsert: [...merged.values()],
    remove: [...gone.values()],
    ...(from.size === 0 ? {} : { files: [...from] }),
  };
}
