import { createLayerStack, type LayerStack } from "./layer-stack.js";
import type { LayerChange, Layers } from "./layers.js";
import type { LayerName } from "./source.js";

/** Whoever is to hear that its group has a new snapshot. */
export interface Subscriber {
  changed(): void;
}

/** A stack of layers, and the streams of all groups that have this list of layers. */
export interface SharedStack {
  readonly names: readonly LayerName[] | undefined;
  readonly stack: LayerStack;
  readonly subscribers: Set<Subscriber>;
  /** How many groups use it. */
  groups: number;
}

/** The stacks in use: one for each different list of layers. */
export interface SharedStacks {
  /** The stack of a list (undefined: all layers), which the caller gives back with `release`. */
  acquire(names: readonly LayerName[] | undefined): SharedStack;
  release(shared: SharedStack): void;
  /** The stacks that have one of the changed layers; costs those, not all that there are. */
  touchedBy(changes: readonly LayerChange[]): Iterable<SharedStack>;
  [Symbol.iterator](): Iterator<SharedStack>;
}

export function createSharedStacks(layers: Layers): SharedStacks {
  const byNames = new Map<string, SharedStack>();
  const byLayer = new Map<LayerName, Set<SharedStack>>();
  const keyOf = (names: readonly LayerName[] | undefined) => JSON.stringify(names ?? null);

  return {
    acquire(names) {
      const known = byNames.get(keyOf(names));
      if (known !== undefined) {
        known.groups += 1;
        return known;
      }
      const made = { names, stack: createLayerStack(layers, names), subscribers: new Set<Subscriber>(), groups: 1 };
      byNames.set(keyOf(names), made);
      for (const name of names ?? []) {
        const having = byLayer.get(name) ?? new Set();
        byLayer.set(name, having.add(made));
      }
      return made;
    },
    release(shared) {
      shared.groups -= 1;
      if (shared.groups > 0) return;
      byNames.delete(keyOf(shared.names));
      for (const name of shared.names ?? []) {
        const having = byLayer.get(name);
        having?.delete(shared);
        if (having?.size === 0) byLayer.delete(name);
      }
    },
    touchedBy(changes) {
      const touched = new Set<SharedStack>();
      const all = byNames.get(keyOf(undefined));
      if (all !== undefined) touched.add(all);
      for (const { layer } of changes) for (const shared of byLayer.get(layer) ?? []) touched.add(shared);
      return touched;
    },
    [Symbol.iterator]: () => byNames.values(),
  };
}
