import type { Resource } from "@xdskit/api";
import { branchSnapshot, emptySnapshot, type Snapshot, type Update, updateSnapshot } from "@xdskit/protocol";
import type { LayerChange, ResourceKey } from "../contracts/layer-change.js";
import type { LayerName } from "../settings/group-settings.js";
import { isBelow } from "./below.js";
import type { Layers } from "./layers.js";
import { PlannedLayers, winnerIn } from "./planned-layers.js";

/**
 * The result of a list of layers. A later layer wins over an earlier one by type and name; when it drops a name, the
 * earlier layer's resource comes back. Groups with the same list share one stack. Nothing is computed before it is
 * first read; from then on a change costs its size, times the layers.
 */
export class LayerStack {
  readonly #layers: Layers;
  readonly #names: readonly LayerName[] | undefined;
  readonly #below: LayerName | undefined;
  readonly #asTheyAre: PlannedLayers;
  #current: Snapshot | undefined;
  /** True while `#current` was derived here, false while it is the only layer's own snapshot. */
  #isOwn = false;

  /**
   * `names` from the lowest to the highest; undefined means all layers. `below` is a layer below them, which by itself
   * does not make the configuration known.
   */
  constructor(layers: Layers, names: readonly LayerName[] | undefined, below?: LayerName | undefined) {
    this.#layers = layers;
    this.#names = names;
    this.#below = below;
    this.#asTheyAre = new PlannedLayers(layers, []);
  }

  /** Its layers from the lowest to the highest, with the given new ones. */
  order(added: readonly LayerName[]): readonly LayerName[] {
    const known = new Set([...this.#layers.names, ...added]);
    const present = this.#names?.filter((name) => known.has(name)) ?? [...known].filter((name) => !isBelow(name));
    return this.#below === undefined ? present : [this.#below, ...present];
  }

  /** Undefined while none of its layers exists; empty once the last one was dropped. */
  snapshot(): Snapshot | undefined {
    if (this.#current === undefined && this.#present().length > 0) this.#current = this.#build(this.#all());
    return this.#current;
  }

  /** The snapshot, if it has been computed before. */
  get known(): Snapshot | undefined {
    return this.#current;
  }

  /** Applies the changes of the layers; returns whether the snapshot has changed. */
  update(changes: readonly LayerChange[]): boolean {
    const before = this.#current;
    if (before === undefined) return changes.some((change) => this.#concerns(change));
    const from = this.#all();
    // A client that has resources must hear that they are gone; undefined would mean that nothing is known.
    this.#current = this.#isOwn
      ? updateSnapshot(before, this.#updateFor(before, from, changes, this.#asTheyAre))
      : (this.#build(from) ?? emptySnapshot());
    return this.#current !== before;
  }

  /**
   * The current snapshot and the one with these changes; nothing is changed. Costs the changes, once the snapshot has
   * been computed.
   */
  preview(changes: readonly LayerChange[]): { readonly before: Snapshot; readonly after: Snapshot } {
    const before = this.snapshot() ?? emptySnapshot();
    const planned = new PlannedLayers(this.#layers, changes);
    const update = this.#updateFor(before, this.order(planned.touched), changes, planned);
    return { before, after: branchSnapshot(before, update) };
  }

  #present(): readonly LayerName[] {
    return this.#names?.filter((name) => this.#layers.get(name) !== undefined) ?? this.#layers.names;
  }

  #all(): readonly LayerName[] {
    const below = this.#below;
    return below === undefined || this.#layers.get(below) === undefined ? this.#present() : [below, ...this.#present()];
  }

  #concerns({ layer }: LayerChange): boolean {
    return this.#names === undefined || layer === this.#below || this.#names.includes(layer);
  }

  #build(from: readonly LayerName[]): Snapshot | undefined {
    const [only] = from;
    this.#isOwn = from.length > 1;
    if (!this.#isOwn) return only === undefined ? undefined : this.#layers.get(only);
    // Starts from an empty set and not from the lowest layer, which keeps changing on its own. The last resource of a
    // name wins.
    const sets = from.flatMap((name) => [...(this.#layers.get(name)?.sets.values() ?? [])]);
    return updateSnapshot(emptySnapshot(), { upsert: sets.flatMap((set) => [...set]) });
  }

  /** The update of a stack of `from` for these changes of its layers; `planned` are the layers with the changes. */
  #updateFor(
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
      if (!this.#concerns(change)) continue;
      for (const { type, key } of change.upserted) compare({ type, name: key });
      change.removed.forEach(compare);
    }
    return { upsert, remove };
  }
}
