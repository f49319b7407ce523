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
function after(before: LayerUpdate, { layer, upsert, remove = [] }: LayerUpdate): LayerUpdate {
  const keyOf = (type: { readonly typeUrl: string }, key: string) => `${type.typeUrl} ${key}`;
  const held = new Map(before.upsert.map((one) => [keyOf(one.type, one.key), one]));
  const gone = new Map((before.remove ?? []).map((one) => [keyOf(one.type, one.name), one]));
  for (const one of remove) {
    gone.set(keyOf(one.type, one.name), one);
    held.delete(keyOf(one.type, one.name));
  }
  for (const one of upsert) held.set(keyOf(one.type, one.key), one);
  return { layer, kind: before.kind, upsert: [...held.values()], remove: [...gone.values()] };
}
