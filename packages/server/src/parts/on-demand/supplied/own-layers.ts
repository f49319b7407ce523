import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { Group } from "../../../contracts/group.js";
import type { KernelLayers } from "../../../contracts/parts/kernel.js";
import { suppliedNames } from "./supplied-set.js";

/** The resources of a group's layers, without supplied ones. */
export interface OwnLayers {
  /** Whether any of the layers exists: before that, no name counts as missing. */
  readonly isKnown: boolean;
  /** The name of the resource that has this name, or that has it as an alias; undefined if there is none. */
  bearerOf(type: ResourceType, name: ResourceName): ResourceName | undefined;
  /** Whether one has a resource of just this name. */
  has(type: ResourceType, name: ResourceName): boolean;
}

export function createOwnLayers(layers: Pick<KernelLayers, "names" | "get">, { layers: names }: Group): OwnLayers {
  function* present(): Iterable<Snapshot> {
    for (const name of names ?? layers.names) {
      const layer = layers.get(name);
      if (layer !== undefined) yield layer;
    }
  }
  /** The last one wins. */
  function winner(type: ResourceType, name: ResourceName): Resource | undefined {
    let found: Resource | undefined;
    for (const layer of present()) found = layer.of(type).get(name) ?? found;
    return found;
  }
  return {
    get isKnown(): boolean {
      for (const _ of present()) return true;
      return false;
    },
    bearerOf(type: ResourceType, name: ResourceName): ResourceName | undefined {
      if (winner(type, name) !== undefined) return name;
      for (const layer of present()) {
        const bearer = layer.of(type).byAlias(name);
        // A higher layer may have put one without the alias in its place.
        if (bearer !== undefined && isAliasOf(winner(type, bearer.key), name)) return bearer.key;
      }
      return undefined;
    },
    has: (type: ResourceType, name: ResourceName): boolean => winner(type, name) !== undefined,
  };
}

function isAliasOf(resource: Resource | undefined, name: ResourceName): boolean {
  return resource !== undefined && suppliedNames(resource).includes(name);
}
