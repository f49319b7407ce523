import type { ResourceName, ResourceType } from "@xdskit/api";
import { type Snapshot, SnapshotLineage } from "@xdskit/protocol";
import { type Clock, systemClock } from "../basics/clock.js";
import { isBelow } from "../configuration/below.js";
import { createLayerStack, type LayerStack } from "../configuration/layer-stack.js";
import type { LayerChange, Layers } from "../configuration/layers.js";
import type { Outcome } from "../on-demand/wanted.js";
import type { ViewClient } from "../rollouts/member.js";
import type { ViewedGroup } from "../rollouts/views.js";
import type { LayerName } from "../settings/group-settings.js";
import { createPulse, type Pulse } from "./pulse.js";

/** A client that is told when its group has a new snapshot. */
export interface GroupClient extends ViewClient {
  /** A name that it asked for and that may be supplied was decided. For a found resource `changed` is called too. */
  settled?(type: ResourceType, name: ResourceName, outcome: Outcome): void;
}

/** A stack of layers, and the streams of all groups that have this list of layers. */
export interface SharedStack {
  readonly names: readonly LayerName[] | undefined;
  /** The layer of one group's supplied resources, below all others. */
  readonly below: LayerName | undefined;
  readonly stack: LayerStack;
  /** Its snapshots, one after the other: streams that rest go along with them. */
  readonly line: SnapshotLineage;
  readonly clients: Set<GroupClient>;
  /** Which streams of its groups get what. */
  readonly views: Set<ViewedGroup>;
  /** The heartbeats of clients that are told TTLs. */
  readonly pulse: Pulse;
  /** How many groups use it. */
  groups: number;
}

/**
 * How many unused stacks are kept up to date, those that were left last. Building a stack costs all its resources, and
 * a group that one node at a time asks for, such as by a unary Fetch, comes and goes with each call. Each costs a map
 * of the names in its layers (about 100 bytes a name) and, at a change, the differences.
 */
const keptUnused = 16;

/** The stacks in use, one for each different list of layers, and those that were until lately. */
export interface SharedStacks {
  /**
   * Returns the stack of a list (undefined: all layers); give it back with `release`. Costs nothing if it was left
   * lately.
   */
  acquire(names: readonly LayerName[] | undefined, below?: LayerName | undefined): SharedStack;
  release(shared: SharedStack): void;
  /** The stacks that have one of the changed layers; costs those, not all that there are. */
  touchedBy(changes: readonly LayerChange[]): Iterable<SharedStack>;
  [Symbol.iterator](): Iterator<SharedStack>;
}

/** `visible` is the part of a stack's snapshot that streams may be told now. */
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
      const line = new SnapshotLineage();
      const made: SharedStack = { names, below, stack, line, views, clients: new Set(), pulse, groups: 1 };
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
