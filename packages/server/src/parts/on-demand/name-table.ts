import {
  type Few,
  fewMembers,
  fewSize,
  fewWith,
  fewWithout,
  getOrInsert,
  type ResourceName,
  type ResourceType,
} from "@xdskit/api";

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

/** Several values for each type and name, each once. A name without values takes no room. */
export class NameSets<Value> {
  readonly #sets = new NameTable<Few<Value>>();

  /** The number of names. */
  get size(): number {
    return this.#sets.size;
  }

  /** In the order in which they came. A copy: values come and go while each is looked at. */
  of(type: ResourceType, name: ResourceName): readonly Value[] {
    return fewMembers(this.#sets.get(type, name));
  }

  add(type: ResourceType, name: ResourceName, value: Value): void {
    this.#sets.set(type, name, fewWith(this.#sets.get(type, name), value));
  }

  delete(type: ResourceType, name: ResourceName, value: Value): void {
    const left = fewWithout(this.#sets.get(type, name), value);
    if (fewSize(left) === 0) this.#sets.delete(type, name);
    else this.#sets.set(type, name, left);
  }
}
