import type { ResourceName, ResourceType } from "@xdskit/api";
import { getOrInsert } from "../../basics/maps.js";

/** A map by type and name, without a joined key: for a hundred thousand names each key would be another string. */
export class NameTable<Value> {
  readonly #types = new Map<ResourceType, Map<ResourceName, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(type: ResourceType, name: ResourceName): Value | undefined {
    return this.#types.get(type)?.get(name);
  }

  set(type: ResourceType, name: ResourceName, value: Value): void {
    const names = getOrInsert(this.#types, type, () => new Map());
    const before = names.size;
    names.set(name, value);
    this.#size += names.size - before;
  }

  /** False if there was none. */
  delete(type: ResourceType, name: ResourceName): boolean {
    const names = this.#types.get(type);
    if (names?.delete(name) !== true) return false;
    this.#size -= 1;
    if (names.size === 0) this.#types.delete(type);
    return true;
  }

  *values(): Iterable<Value> {
    for (const names of this.#types.values()) yield* names.values();
  }
}
