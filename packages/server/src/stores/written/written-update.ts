import type { Resource } from "@xdskit/api";
import { mergedUpdates } from "../../configuration/merged-updates.js";
import { resourcesOfLayer } from "../../configuration/resources-of-layer.js";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerWrite } from "../../contracts/stores/layer-writer.js";
import type { LayerCommit, Revision, StoredKey } from "../../contracts/stores/store.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import { commitOf } from "../history/stored-content.js";
import type { LayerLeases } from "../leases/leases.js";

type Layer = ReturnType<XdsServer["layerSnapshot"]>;

/** The update that a write makes to a layer, with the keys of removed resources, as a store needs them. */
export function updateOf({ layer, upsert, remove, replace }: LayerWrite, now: Layer): LayerUpdate {
  if (replace) return { layer, kind: "replace", upsert };
  const keys = remove.flatMap(
    ({ type, name }) =>
      now
        ?.of(type)
        .named(name)
        .map(({ key }) => ({ type, name: key })) ?? [],
  );
  return { layer, kind: "patch", upsert, remove: keys };
}

/** All that a layer holds after an update: its store has nothing of what was there before. */
export function wholeOf(update: LayerUpdate, now: Layer): LayerUpdate {
  const current: LayerUpdate = { layer: update.layer, kind: "replace", upsert: resourcesOfLayer(now) };
  const [whole = update] = mergedUpdates([current], [update]);
  return whole;
}

/**
 * What a change puts in, and what it removes, or would if it were there: it belongs to no lease any more. A change that
 * replaces the layer leaves what stays as it was to its lease: nobody has asked for it by name.
 */
export function touchedBy(
  { remove, replace, lease }: LayerWrite,
  update: LayerUpdate,
  now: Layer,
  leases: LayerLeases,
): [written: readonly StoredKey[], removed: readonly StoredKey[]] {
  const keyOf = ({ type, key }: Resource) => ({ type: type.typeUrl, key });
  if (replace) {
    const stays = ({ type, name, key, version }: Resource) =>
      now
        ?.of(type)
        .named(name)
        .some((one) => one.key === key && one.version === version) === true;
    const written = lease === undefined ? update.upsert.filter((one) => !stays(one)) : update.upsert;
    return [written.map(keyOf), leases.othersThan(update.upsert.map(keyOf))];
  }
  const removed = [...remove, ...(update.remove ?? [])];
  return [update.upsert.map(keyOf), removed.map(({ type, name }) => ({ type: type.typeUrl, key: name }))];
}

/** All that a layer holds, on top of a head that must go again. */
export function restoring(now: Layer, head: Revision): LayerCommit {
  return commitOf({ layer: head.layer, kind: "replace", upsert: resourcesOfLayer(now) }, head);
}
