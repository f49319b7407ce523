import { type Clock, getOrInsert, type TypeUrl } from "@xdskit/api";
import { emptySnapshot, notePublished, replacesListeners, type Snapshot, type UnknownTypes } from "@xdskit/protocol";
import { MultiMap } from "../basics/maps.js";
import { isBelow } from "../configuration/below.js";
import { LayerStack } from "../configuration/layer-stack.js";
import type { Layers } from "../configuration/layers.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { MakeIndex, SnapshotIndex } from "../contracts/parts/snapshot-index.js";
import type { GroupPolicy, Wish } from "../contracts/parts/target-policy.js";
import type { LayerName } from "../settings/group-settings.js";
import { createPulse, type Pulse } from "./pulse.js";
import { RecentSnapshots } from "./recent-snapshots.js";
import { StackPart } from "./stack-part.js";
import { WithoutApiListeners } from "./without-api-listeners.js";
import { withoutSecrets } from "./without-secrets.js";

/** A stack of layers, and the streams of all groups that have this list of layers. */
export class SharedStack {
  readonly #stacks: SharedStacks;
  /** Makes the same stack of other layers. */
  readonly over: (layers: Layers) => LayerStack;
  /** Unique among stacks. */
  readonly key: string;
  /** Its layers by name; undefined stands for all layers but those of supply on demand. */
  readonly layers: readonly (LayerName | undefined)[];
  readonly stack: LayerStack;
  /** Its clients, by what they are told. */
  readonly #parts = new Map<string, StackPart>();
  /** They decide which stream of its groups gets which snapshot. */
  readonly policies = new Set<GroupPolicy>();
  /** The heartbeats of clients that are told TTLs. */
  readonly pulse: Pulse;
  /** The snapshots that clients may have from before a restart, newest first. Empty if the restart was long ago. */
  earlier: readonly Snapshot[] = [];
  /** The snapshots that clients from another server may have, newest first. */
  readonly recent: RecentSnapshots;
  readonly #forEnvoys = new WithoutApiListeners();
  /** The number of groups that use it. */
  groups = 0;
  /** What parts know of the newest snapshot, by what made it. */
  readonly #indexes = new Map<MakeIndex<SnapshotIndex>, SnapshotIndex>();

  constructor(stacks: SharedStacks, key: string, names: readonly LayerName[] | undefined, below?: LayerName) {
    this.#stacks = stacks;
    this.key = key;
    this.layers = [...(below === undefined ? [] : [below]), ...(names ?? [undefined])];
    this.over = (layers) => new LayerStack(layers, names, below);
    this.stack = this.over(stacks.layers);
    this.recent = new RecentSnapshots(stacks.clock, stacks.drainMs);
    this.pulse = createPulse(stacks.clock, () => this.#snapshots());
  }

  /** The snapshot that its streams may be told now. Undefined while no configuration is known. */
  newest(): Snapshot | undefined {
    return this.#stacks.hasBegun() ? this.stack.snapshot() : undefined;
  }

  /** The same first, then what clients may be told of it. Only who asks for that has the parts made. */
  *told(): Iterable<Snapshot> {
    const newest = this.newest();
    if (newest === undefined) return;
    yield newest;
    for (const secrets of [true, false])
      for (const isEnvoy of [true, false]) yield this.part(secrets, isEnvoy).of(newest);
  }

  /** Types whose content is not known yet. The same set until it changes, if one layer has it. */
  unknown(): UnknownTypes {
    const { awaited } = this.#stacks;
    if (awaited.size === 0) return undefined;
    const [first, ...more] = [...awaited].filter(([layer]) => this.has(layer)).map(([, types]) => types);
    return more.length === 0 ? first : new Set([...(first ?? []), ...more.flatMap((types) => [...types])]);
  }

  has(layer: LayerName): boolean {
    return this.layers.includes(layer) || this.layers.includes(undefined);
  }

  /** The part for clients that are told secrets or not, and that are Envoys or not. */
  part(getsSecrets: boolean, isEnvoy: boolean): StackPart {
    return getOrInsert(this.#parts, `${getsSecrets} ${isEnvoy}`, () => {
      const bare = getsSecrets ? (snapshot: Snapshot) => snapshot : withoutSecrets;
      return new StackPart(isEnvoy ? (snapshot) => this.#forEnvoys.of(bare(snapshot)) : bare);
    });
  }

  /** Starts the lineages at the newest snapshot, so that streams in sync can follow them. */
  start(): void {
    const newest = this.newest();
    if (newest === undefined) return;
    for (const part of this.#parts.values()) part.lineage.start(part.of(newest));
  }

  /** Takes over the changes, and tells the streams. `at`: milliseconds. */
  publish(changes: readonly LayerChange[], wish: Wish, at: number): void {
    const before = this.stack.known;
    if (!this.stack.update(changes)) return;
    const after = this.stack.known;
    if (before !== undefined && after !== undefined) {
      notePublished(before, after, at);
      for (const policy of this.policies) policy.newestChanged?.(before, after, wish);
      this.recent.add(before, countOf(changes), replacesListeners(before, after));
    }
    let isPlain = after !== undefined;
    for (const policy of this.policies) isPlain &&= policy.isPlain;
    if (after !== undefined) for (const part of this.#parts.values()) part.goOn(before, after, isPlain, at);
    this.tell(isPlain ? after : undefined);
    this.pulse.update();
    if (after === undefined) return;
    for (const index of this.#indexes.values()) index.update(after);
  }

  /**
   * Takes over changes before nodes are told anything. `isLater`: they do not belong to what a source starts with,
   * which clients may have from before a restart.
   */
  publishEarly(changes: readonly LayerChange[], wish: Wish, isLater: boolean): void {
    const before = this.stack.known;
    const isChanged = this.stack.update(changes);
    // From the first content on, so that what was before a change is known.
    const after = this.stack.snapshot();
    if (!isLater || !isChanged || before === undefined || after === undefined) return;
    this.recent.add(before, countOf(changes), replacesListeners(before, after));
    for (const policy of this.policies) policy.newestChangedEarly?.(before, after, wish);
  }

  /** An index of the newest snapshot, kept up to date from the first call on. */
  index<Index extends SnapshotIndex>(make: MakeIndex<Index>): Index {
    return getOrInsert(this.#indexes, make, () => {
      const index = make();
      index.update(this.newest() ?? emptySnapshot());
      return index;
    }) as Index;
  }

  /** No group uses it any more. */
  forgetIndexes(): void {
    this.#indexes.clear();
  }

  /** `newest`: this snapshot is the target of all streams. */
  tell(newest?: Snapshot): void {
    for (const part of this.#parts.values()) part.tell(newest);
  }

  *#snapshots(): Iterable<Snapshot> {
    const newest = this.newest();
    if (newest !== undefined) yield newest;
    for (const policy of this.policies) yield* policy.snapshots?.() ?? [];
  }
}

function countOf(changes: readonly LayerChange[]): number {
  return changes.reduce((sum, { upserted, removed }) => sum + upserted.length + removed.length, 0);
}

/**
 * The number of unused stacks that are kept up to date: those that were left last. Building a stack costs all its
 * resources, and a group that one node at a time asks for, such as by a unary Fetch, comes and goes with each call.
 * Each costs a map of the names in its layers (about 100 bytes a name) and, at a change, the differences.
 */
const keptUnused = 16;

/** The stacks in use, one for each different list of layers, and those that were in use until recently. */
export class SharedStacks {
  readonly layers: Layers;
  readonly clock: Clock;
  /** Whether nodes are told the configuration (`Publication.hasBegun`). */
  readonly hasBegun: () => boolean;
  /** The types whose content in the layer is not known yet. */
  readonly awaited = new Map<LayerName, ReadonlySet<TypeUrl>>();
  /** For how long connections drain from a replaced listener. */
  readonly drainMs: () => number;
  readonly #byKey = new Map<string, SharedStack>();
  readonly #byLayer = new MultiMap<LayerName | undefined, SharedStack>();
  /** Stacks that no group uses, in the order in which they were left. */
  readonly #unused = new Set<SharedStack>();

  constructor(layers: Layers, clock: Clock, hasBegun: () => boolean, drainMs: () => number = () => 0) {
    this.layers = layers;
    this.clock = clock;
    this.hasBegun = hasBegun;
    this.drainMs = drainMs;
  }

  /**
   * Returns the stack of a list (undefined: all layers); give it back with `release`. Costs nothing if it was released
   * recently. `below` is the layer of one group's supplied resources, below all others.
   */
  acquire(names: readonly LayerName[] | undefined, below?: LayerName | undefined): SharedStack {
    const key = JSON.stringify([names ?? null, below]);
    const shared = this.#byKey.get(key) ?? new SharedStack(this, key, names, below);
    shared.groups += 1;
    this.#unused.delete(shared);
    this.#byKey.set(key, shared);
    for (const layer of shared.layers) this.#byLayer.add(layer, shared);
    return shared;
  }

  release(shared: SharedStack): void {
    shared.groups -= 1;
    if (shared.groups > 0) return;
    shared.forgetIndexes();
    this.#unused.add(shared);
    for (const oldest of this.#unused) {
      if (this.#unused.size <= keptUnused) break;
      this.#forget(oldest);
    }
  }

  #forget(shared: SharedStack): void {
    this.#unused.delete(shared);
    this.#byKey.delete(shared.key);
    for (const layer of shared.layers) this.#byLayer.delete(layer, shared);
  }

  /** The stacks that have one of the changed layers; costs those, and not all stacks. */
  touchedBy(changes: readonly LayerChange[]): Iterable<SharedStack> {
    const touched = new Set<SharedStack>();
    const layers = changes.map(({ layer }) => layer);
    for (const layer of layers.every(isBelow) ? layers : [undefined, ...layers])
      for (const shared of this.#byLayer.of(layer)) touched.add(shared);
    return touched;
  }

  [Symbol.iterator](): Iterator<SharedStack> {
    return this.#byKey.values();
  }
}
