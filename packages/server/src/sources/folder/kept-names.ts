import type { Resource, ResourceType } from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import { MultiMap } from "../../basics/maps.js";

/** The type and name of a resource. */
export interface TypeAndKey {
  readonly type: ResourceType;
  readonly key: Resource["key"];
}

/** Names in files with errors whose content is unknown: their applied content stays. */
export class KeptNames {
  readonly #names = new Map<string, TypeAndKey>();
  /** The files that hold each name. */
  readonly #files = new MultiMap<string, string>();

  add(file: string, { type, key }: TypeAndKey): void {
    const id = idOf({ type, key });
    this.#names.set(id, { type, key });
    this.#files.add(id, file);
  }

  delete(file: string, name: TypeAndKey): void {
    const id = idOf(name);
    this.#files.delete(id, file);
    if (this.#files.of(id).size === 0) this.#names.delete(id);
  }

  has(name: TypeAndKey): boolean {
    return this.#names.has(idOf(name));
  }

  [Symbol.iterator](): Iterator<TypeAndKey> {
    return this.#names.values();
  }
}
