import type { Resource } from "@xdskit/api";
import { branchSnapshot, emptySnapshot, type Snapshot, type Update, updateSnapshot } from "@xdskit/protocol";
import type { LayerName } from "../settings/group-settings.js";
import { isBelow } from "./below.js";
import type { LayerChange, Layers, ResourceKey } from "./layers.js";
import { PlannedLayers, winnerIn } from "./planned-layers.js";

/**
 * The result of a list of layers. A later layer wins over an earlier one by type and name; when it drops a name, the
 * earlier layer's resource comes back. Groups with the same list share one stack. Nothing is computed before it is
 * first read; from then on a change costs its size, times the layers.
 */
export type LayerStack = ReturnType<typeof createLayerStack>;

/**
 * `names` from the lowest to the highest; undefined means all layers. `below` is a layer below them, which by itself
 * does not make the configuration known.
 */
export function createLayerStack(
  layers: Layers,
  names: readonly LayerName[] | undefined,
  below?: LayerName | undefined,
) {
  let current: Snapshot | undefined;
  /** True while `current` was derived here, false while it is the only layer's own snapshot. */
  let own = false;

  function present(): readonly LayerName[] {
    return names === undefined ? layers.names : names.filter((name) => layers.get(name) !== undefined);
  }

  function all(): readonly LayerName[] {
    return below === undefined || layers.get(below) === undefined ? present() : [below, ...present()];
  }

  function order(added: readonly LayerName[]): readonly LayerName[] {
    const known = new Set([...layers.names, ...added]);
    const present =
      names === undefined ? [...known].filter((name) => !isBelow(name)) : names.filter((name) => known.has(name));
    return below === undefined ? present : [below, ...present];
  }

  function concerns({ layer }: LayerChange): boolean {
    return names === undefined || layer === below || names.includes(layer);
  }

  function build(from: readonly LayerName[]): Snapshot | undefined {
    const [only] = from;
    own = from.length > 1;
    if (!own) return only === undefined ? undefined : layers.get(only);
    // Starts from an empty set and not from the lowest layer, which keeps changing on its own. The last resource of a
    // name wins.
    const sets = from.flatMap((name) => [...(layers.get(name)?.sets.values() ?? [])]);
    return updateSnapshot(emptySnapshot(), { upsert: sets.flatMap((set) => [...set]) });
  }

  /** The update of a stack of `from` for these changes of its layers; `planned` are the layers with the changes. */
  function updateFor(
    before: Snapshot,
    from: readonly LayerName[],
    changes: readonly LayerChange[],
    planned: PlannedLayers,
  ): Update {
    const upsert: Resource[] = [];
    const remove: ResourceKey[] = [];
    const winnerOf = winnerIn(from, planned);
    const compare = (key: ResourceKey) => {
      const now = before.of(key.type).get(key.name);
      const winner = winnerOf(key.type, key.name)?.resource;
      if (winner === undefined && now !== undefined) remove.push(key);
      if (winner !== undefined && winner.version !== now?.version) upsert.push(winner);
    };
    for (const change of changes) {
      // A dropped layer is gone, but its resources must be removed.
      if (!concerns(change)) continue;
      for (const { type, key } of change.upserted) compare({ type, name: key });
      change.removed.forEach(compare);
    }
    return { upsert, remove };
  }

  const asTheyAre = new PlannedLayers(layers, []);

  function snapshot(): Snapshot | undefined {
    if (current === undefined && present().length > 0) current = build(all());
    return current;
  }

  return {
    /** Its layers from the lowest to the highest, with the given new ones. */
    order,
    /** Undefined while none of its layers exists; empty once the last one was dropped. */
    snapshot,
    /** The snapshot, if it has been computed before. */
    get known(): Snapshot | undefined {
      return current;
    },
    /** Applies the changes of the layers; returns whether the snapshot has changed. */
    update(changes: readonly LayerChange[]): boolean {
      if (current === undefined) return changes.some(concerns);
      const before = current;
      const from = all();
      // A client that has resources must hear that they are gone; undefined would mean that nothing is known.
      current = own
        ? updateSnapshot(current, updateFor(current, from, changes, asTheyAre))
        : (build(from) ?? emptySnapshot());
      return current !== before;
    },
    /**
     * The current snapshot and the one with these changes; nothing is changed. Costs the changes, once the snapshot has
     * been computed.
     */
    preview(changes: readonly LayerChange[]): { readonly before: Snapshot; readonly after: Snapshot } {
      const before = snapshot() ?? emptySnapshot();
      const planned = new PlannedLayers(layers, changes);
      return { before, after: branchSnapshot(before, updateFor(before, order(planned.touched), changes, planned)) };
    },
  };
}
