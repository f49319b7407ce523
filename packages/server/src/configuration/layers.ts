import { type Finding, type Resource, type ResourceName, type ResourceType, XdskitError } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import type { LayerUpdate } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import { isBelow } from "./below.js";

/** Names one resource of a layer. */
export interface ResourceKey {
  readonly type: ResourceType;
  readonly name: ResourceName;
}

/** What really became different in a layer: what was set again with the same content is not in it. */
export interface LayerChange {
  readonly layer: LayerName;
  readonly upserted: readonly Resource[];
  readonly removed: readonly ResourceKey[];
}

/** The named sets of resources that groups are built from. */
export interface Layers {
  /** In the order in which they first appeared, without the layers of supply on demand. */
  readonly names: readonly LayerName[];
  /** What a layer holds; undefined for one that nothing was ever put in, or that was dropped. */
  get(layer: LayerName): Snapshot | undefined;
  /**
   * Makes a change, all of it or nothing, and returns the differences. A new layer without differences is listed with
   * empty lists. Throws an XdskitError, and changes nothing, if an update names a resource twice.
   */
  apply(updates: readonly LayerUpdate[]): readonly LayerChange[];
  /** Forgets a layer and says what went with it; undefined if there is none. */
  drop(layer: LayerName): LayerChange | undefined;
}

export function createLayers(): Layers {
  const layers = new Map<LayerName, Snapshot>();
  return {
    get names() {
      return [...layers.keys()].filter((name) => !isBelow(name));
    },
    get: (layer) => layers.get(layer),
    apply(updates) {
      // All errors must be found before a snapshot is derived: after that, the old snapshot is no longer the newest of
      // its lineage.
      const fresh = new Map<LayerUpdate, Snapshot>();
      for (const update of updates) {
        const first = layers.has(update.layer) ? undefined : firstSnapshot(update);
        if (first === undefined) refuseDuplicates(updates);
        else fresh.set(update, first);
      }
      const changes: LayerChange[] = [];
      for (const update of updates) {
        const known = layers.get(update.layer);
        const before = known ?? emptySnapshot();
        const change = update.kind === "replace" ? replacement(before, update) : patch(before, update);
        if (known !== undefined && change.upserted.length === 0 && change.removed.length === 0) continue;
        const first = known === undefined ? fresh.get(update) : undefined;
        const { upserted: upsert, removed: remove } = change;
        layers.set(update.layer, first ?? updateSnapshot(before, { upsert, remove }));
        changes.push(change);
      }
      return changes;
    },
    drop(layer) {
      const before = layers.get(layer);
      if (before === undefined) return undefined;
      layers.delete(layer);
      return replacement(before, { layer, kind: "replace", upsert: [] });
    },
  };
}

/**
 * The first content of a layer, which takes nothing from any snapshot. Undefined if it is smaller than the list that
 * was given: a name came twice. Comparing sizes saves a start a set of all names.
 */
function firstSnapshot({ upsert }: LayerUpdate): Snapshot | undefined {
  const first = updateSnapshot(emptySnapshot(), { upsert });
  let held = 0;
  for (const { size } of first.sets.values()) held += size;
  return held === upsert.length ? first : undefined;
}

function refuseDuplicates(updates: readonly LayerUpdate[]): void {
  const findings: Finding[] = [];
  for (const update of updates) {
    const seen = new Map<ResourceType, Set<ResourceName>>();
    for (const { type, name, key } of update.upsert) {
      const names = namesOf(seen, type);
      if (names.has(key)) {
        findings.push({
          code: "XDSKIT_DUPLICATE_RESOURCE",
          severity: "error",
          message: `layer ${JSON.stringify(update.layer)} names it twice`,
          type: type.name,
          resource: name,
        });
      }
      names.add(key);
    }
  }
  const [first, ...rest] = findings;
  if (first !== undefined) throw new XdskitError([first, ...rest]);
}

function namesOf(map: Map<ResourceType, Set<ResourceName>>, type: ResourceType): Set<ResourceName> {
  const known = map.get(type);
  if (known !== undefined) return known;
  const names = new Set<ResourceName>();
  map.set(type, names);
  return names;
}

function patch(before: Snapshot, update: LayerUpdate): LayerChange {
  const upserted = update.upsert.filter((resource) => differs(before, resource));
  const kept = new Map<ResourceType, Set<ResourceName>>();
  // What one update both removes and puts in is there afterwards.
  if (update.remove !== undefined && update.remove.length > 0) {
    for (const { type, key } of update.upsert) namesOf(kept, type).add(key);
  }
  const named = (update.remove ?? []).flatMap(({ type, name }) => before.of(type).named(name));
  const removed = named
    .filter(({ type, key }) => !kept.get(type)?.has(key))
    .map(({ type, key }) => ({ type, name: key }));
  return { layer: update.layer, upserted, removed };
}

function replacement(before: Snapshot, update: LayerUpdate): LayerChange {
  // A start: nothing can be equal, or in the way.
  if (before.sets.size === 0) return { layer: update.layer, upserted: [...update.upsert], removed: [] };
  const upserted = update.upsert.filter((resource) => differs(before, resource));
  const next = new Map<ResourceType, Set<ResourceName>>();
  for (const { type, key } of update.upsert) namesOf(next, type).add(key);
  const removed: ResourceKey[] = [];
  for (const set of before.sets.values()) {
    const names = next.get(set.type);
    for (const { type, key } of set) if (!names?.has(key)) removed.push({ type, name: key });
  }
  return { layer: update.layer, upserted, removed };
}

/** Whether a resource is new or has another content than the one of its name; equal content has an equal version. */
function differs(before: Snapshot, resource: Resource): boolean {
  return before.of(resource.type).get(resource.key)?.version !== resource.version;
}
