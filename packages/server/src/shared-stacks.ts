import type { ResourceName, ResourceType } from "@xdskit/api";
import { type Snapshot, SnapshotLine } from "@xdskit/protocol";
import { type Clock, systemClock } from "./clock.js";
import { createLayerStack, type LayerStack } from "./layer-stack.js";
import type { LayerChange, Layers } from "./layers.js";
import { isBelow } from "./on-demand/below.js";
import type { Outcome } from "./on-demand/wanted.js";
import { createPulse, type Pulse } from "./pulse.js";
import type { LayerName } from "./source.js";
import type { Occupant } from "./views/place.js";
import type { ViewedGroup } from "./views/views.js";

/** Whoever is to hear that its group has a new snapshot. */
export interface Subscriber extends Occupant {
  /** It was decided on a name that it asked for and that may be supplied on demand. What was found it hears of by `changed` too. */
  settled?(type: ResourceType, name: ResourceName, outcome: Outcome): void;
}

/** A stack of layers, and the streams of all groups that have this list of layers. */
export interface SharedStack {
  readonly names: readonly LayerName[] | undefined;
  /** The layer below them, of what is supplied on demand for one group. */
  readonly below: LayerName | undefined;
  readonly stack: LayerStack;
  /** Its snapshots, one after the other: streams that rest go along with them. */
  readonly line: SnapshotLine;
  readonly subscribers: Set<Subscriber>;
  /** Which streams of its groups get what. */
  readonly views: Set<ViewedGroup>;
  /** The heartbeats of those whose clients are told TTLs. */
  readonly pulse: Pulse;
  /** How many groups use it. */
  groups: number;
}

/**
 * How many stacks that no group uses any more are kept up to date, those that were left last: building one costs all that it holds, and a
 * group of which one node at a time asks, such as by a unary Fetch, comes and goes with each call. Each costs a map of the names in its
 * layers, about 100 bytes for a name, the names of the layers, and at a change what changed in them.
 */
const keptUnused = 16;

/** The stacks in use, one for each different list of layers, and those that were until lately. */
export interface SharedStacks {
  /** The stack of a list (undefined: all layers), which the caller gives back with `release`; costs nothing if it was left lately. */
  acquire(names: readonly LayerName[] | undefined, below?: LayerName | undefined): SharedStack;
  release(shared: SharedStack): void;
  /** The stacks that have one of the changed layers; costs those, not all that there are. */
  touchedBy(changes: readonly LayerChange[]): Iterable<SharedStack>;
  [Symbol.iterator](): Iterator<SharedStack>;
}

/** `visible` is what of a stack's snapshot streams may be told now. */
export function createSharedStacks(
  layers: Layers,
  clock: Clock = systemClock,
  visible: (stack: LayerStack) => Snapshot | undefined = (stack) => stack.snapshot(),
): SharedStacks {
  const byNames = new Map<string, SharedStack>();
  const byLayer = new Map<LayerName, Set<SharedStack>>();
  /** Stacks that no group uses, in the order in which they were left. */
  const unused = new Set<SharedStack>();
  /** Stacks of all layers. */
  const ofAll = new Set<SharedStack>();
  const keyOf = (names: readonly LayerName[] | undefined, below: LayerName | undefined) =>
    JSON.stringify([names ?? null, below]);
  function forget(shared: SharedStack): void {
    unused.delete(shared);
    byNames.delete(keyOf(shared.names, shared.below));
    ofAll.delete(shared);
    for (const name of layersOf(shared)) {
      const having = byLayer.get(name);
      having?.delete(shared);
      if (having?.size === 0) byLayer.delete(name);
    }
  }

  return {
    acquire(names, below) {
      const known = byNames.get(keyOf(names, below));
      if (known !== undefined) {
        known.groups += 1;
        unused.delete(known);
        return known;
      }
      const stack = createLayerStack(layers, names, below);
      const views: SharedStack["views"] = new Set();
      const pulse = createPulse(clock, function* () {
        const newest = visible(stack);
        if (newest !== undefined) yield newest;
        for (const view of views) yield* view.snapshots();
      });
      const line = new SnapshotLine();
      const made: SharedStack = { names, below, stack, line, views, subscribers: new Set(), pulse, groups: 1 };
      byNames.set(keyOf(names, below), made);
      if (names === undefined) ofAll.add(made);
      for (const name of layersOf(made)) {
        const having = byLayer.get(name) ?? new Set();
        byLayer.set(name, having.add(made));
      }
      return made;
    },
    release(shared) {
      shared.groups -= 1;
      if (shared.groups > 0) return;
      unused.add(shared);
      for (const oldest of unused) {
        if (unused.size <= keptUnused) break;
        forget(oldest);
      }
    },
    touchedBy(changes) {
      const touched = new Set<SharedStack>(changes.every(({ layer }) => isBelow(layer)) ? [] : ofAll);
      for (const { layer } of changes) for (const shared of byLayer.get(layer) ?? []) touched.add(shared);
      return touched;
    },
    [Symbol.iterator]: () => byNames.values(),
  };
}

/** The layers of a stack that are listed by name: none where it has all layers, but the one below. */
function layersOf({ names, below }: Pick<SharedStack, "names" | "below">): readonly LayerName[] {
  return below === undefined ? (names ?? []) : [below, ...(names ?? [])];
}
