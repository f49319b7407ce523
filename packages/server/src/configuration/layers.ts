import { type Finding, type Resource, type ResourceName, type ResourceType, throwIfAny } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { MultiMap } from "../basics/maps.js";
import type { LayerChange, ResourceKey } from "../contracts/layer-change.js";
import type { LayerUpdate } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import { isBelow } from "./below.js";

/** The named sets of resources that groups are built from. */
export interface Layers {
  /** In the order in which they first appeared, without the layers of supply on demand. */
  readonly names: readonly LayerName[];
  /** The content of a layer; undefined for a layer that never had content, or that was dropped. */
  get(layer: LayerName): Snapshot | undefined;
  /**
   * The differences that a change would make, for each update. Nothing is applied or derived. No two updates may be
   * of one layer. Throws as `apply` does.
   */
  plan(updates: readonly LayerUpdate[]): readonly LayerChange[];
  /**
   * Makes a change, all of it or nothing, and returns the differences. A new layer without differences is listed with
   * empty lists. Throws an XdskitError, and changes nothing, if an update names a resource twice. `planned` saves the
   * work that `plan` has done.
   */
  apply(updates: readonly LayerUpdate[], planned?: readonly LayerChange[]): readonly LayerChange[];
  /** Forgets a layer and returns the removed resources; undefined if there is no such layer. */
  drop(layer: LayerName): LayerChange | undefined;
}

export function createLayers(): Layers {
  const layers = new Map<LayerName, Snapshot>();
  return {
    get names(): readonly LayerName[] {
      return [...layers.keys()].filter((name) => !isBelow(name));
    },
    get: (layer: LayerName): Snapshot | undefined => layers.get(layer),
    plan(updates: readonly LayerUpdate[]): readonly LayerChange[] {
      refuseDuplicates(updates);
      return updates.map((update) => differencesOf(layers.get(update.layer) ?? emptySnapshot(), update));
    },
    apply(updates: readonly LayerUpdate[], planned?: readonly LayerChange[]): readonly LayerChange[] {
      // All errors must be found before a snapshot is derived: after that, the old snapshot is no longer the newest of
      // its lineage. The first content of a layer takes nothing from any snapshot.
      const first = new Map<LayerUpdate, Snapshot>();
      for (const update of updates)
        if (!layers.has(update.layer)) first.set(update, updateSnapshot(emptySnapshot(), { upsert: update.upsert }));
      // Comparing sizes saves a start a set of all names.
      if (planned === undefined && !updates.every((update) => sizeOf(first.get(update)) === update.upsert.length))
        refuseDuplicates(updates);
      const changes: LayerChange[] = [];
      for (const [index, update] of updates.entries()) {
        const known = layers.get(update.layer);
        const before = known ?? emptySnapshot();
        const change = planned?.[index] ?? differencesOf(before, update);
        const { upserted: upsert, removed: remove } = change;
        if (known !== undefined && upsert.length === 0 && remove.length === 0) continue;
        const fresh = known === undefined ? first.get(update) : undefined;
        layers.set(update.layer, fresh ?? updateSnapshot(before, { upsert, remove }));
        changes.push(change);
      }
      return changes;
    },
    drop(layer: LayerName): LayerChange | undefined {
      const before = layers.get(layer);
      if (before === undefined) return undefined;
      layers.delete(layer);
      return differencesOf(before, { layer, kind: "replace", upsert: [] });
    },
  };
}

function sizeOf(snapshot: Snapshot | undefined): number | undefined {
  if (snapshot === undefined) return undefined;
  let resources = 0;
  for (const { size } of snapshot.sets.values()) resources += size;
  return resources;
}

function refuseDuplicates(updates: readonly LayerUpdate[]): void {
  const findings: Finding[] = [];
  for (const update of updates) {
    const seen = new MultiMap<ResourceType, ResourceName>();
    for (const { type, name, key } of update.upsert) {
      if (seen.of(type).has(key)) {
        findings.push({
          code: "XDSKIT_DUPLICATE_RESOURCE",
          severity: "error",
          message: `layer ${JSON.stringify(update.layer)} names it twice`,
          type: type.name,
          resource: name,
        });
      }
      seen.add(type, key);
    }
  }
  throwIfAny(findings);
}

function differencesOf(before: Snapshot, { layer, kind, upsert, remove = [] }: LayerUpdate): LayerChange {
  // At a start, nothing can be equal or conflict.
  if (before.sets.size === 0) return { layer, upserted: [...upsert], removed: [] };
  // Equal content has an equal version.
  const upserted = upsert.filter(({ type, key, version }) => before.of(type).get(key)?.version !== version);
  const removed: ResourceKey[] = [];
  // A resource that one update both removes and upserts stays.
  const kept = new MultiMap<ResourceType, ResourceName>();
  for (const { type, key } of upsert) kept.add(type, key);
  const drop = ({ type, key }: Resource) => {
    if (!kept.of(type).has(key)) removed.push({ type, name: key });
  };
  if (kind === "replace") for (const set of before.sets.values()) for (const each of set) drop(each);
  else for (const { type, name } of remove) for (const each of before.of(type).named(name)) drop(each);
  return { layer, upserted, removed };
}
