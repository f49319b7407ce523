import type { Registry, Resource } from "@xdskit/api";
import { receivedResource } from "@xdskit/protocol";
import { createResourceView } from "../asking/output/resource-view.js";
import type { ShownChange, ShownContent } from "./shown-change.js";

/** Resources by layer, and the messages that may occur in them. */
export interface LayersOf {
  readonly layers: ReadonlyMap<string, readonly Resource[]>;
  readonly registry: Registry;
}

/**
 * The resources that differ, layer by layer, each layer in the order in which types are delivered, then by name. A
 * resource that moves from one layer to another goes from the one and comes to the other.
 */
export function changesOfLayers(from: LayersOf, to: LayersOf, only: ReadonlySet<string> | undefined): ShownChange[] {
  const names = [...new Set([...to.layers.keys(), ...from.layers.keys()])].filter((name) => only?.has(name) ?? true);
  const [before, after] = [contents(from.registry), contents(to.registry)];
  const isOnly = names.length === 1;
  return names.flatMap((layer) =>
    differences(from.layers.get(layer) ?? [], to.layers.get(layer) ?? []).map((pair) => {
      const [old, next] = pair;
      const { type, name } = anyOf(pair);
      const about = { type: type.name, typeUrl: type.typeUrl, name, layer: isOnly ? undefined : layer };
      return { ...about, before: old && before(old), after: next && after(next) };
    }),
  );
}

/** At least one of them is there. */
type Pair = readonly [before: Resource, after: Resource | undefined] | readonly [before: undefined, after: Resource];

function anyOf([before, after]: Pair): Resource {
  return before ?? (after as Resource);
}

function differences(from: readonly Resource[], to: readonly Resource[]): readonly Pair[] {
  const old = new Map(from.map((resource) => [keyOf(resource), resource]));
  const pairs: Pair[] = [];
  for (const resource of to) {
    const key = keyOf(resource);
    const before = old.get(key);
    old.delete(key);
    if (before === undefined) pairs.push([before, resource]);
    else if (before.version !== resource.version) pairs.push([before, resource]);
  }
  for (const resource of old.values()) pairs.push([resource, undefined]);
  return pairs.sort((a, b) => compared(anyOf(a), anyOf(b)));
}

function compared(a: Resource, b: Resource): number {
  if (a.type !== b.type) return a.type.deliveryOrder - b.type.deliveryOrder || (a.type.name < b.type.name ? -1 : 1);
  return a.key < b.key ? -1 : 1;
}

function keyOf({ type, key }: Resource): string {
  return `${type.typeUrl} ${key}`;
}

/** How contents are shown. */
function contents(registry: Registry): (resource: Resource) => ShownContent {
  const view = createResourceView(registry, false);
  return (resource) => {
    const received = receivedResource(resource, resource.version, { registry });
    return { json: () => view.json(received).json, yaml: () => view.yaml(received) };
  };
}
