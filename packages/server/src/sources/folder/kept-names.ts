import type { Resource, ResourceType, TypeUrl } from "@xdskit/api";

/** The type and name of a resource. */
export interface NamedResource {
  readonly type: ResourceType;
  readonly key: Resource["key"];
}

/** A name, and the files that hold it. */
interface KeptName {
  readonly name: NamedResource;
  readonly files: Set<string>;
}

/** Names in files with errors whose content is unknown: their applied content stays. */
export class KeptNames {
  readonly #files = new Map<TypeUrl, Map<Resource["key"], KeptName>>();

  add(file: string, { type, key }: NamedResource): void {
    let ofType = this.#files.get(type.typeUrl);
    if (ofType === undefined) {
      ofType = new Map();
      this.#files.set(type.typeUrl, ofType);
    }
    const kept = ofType.get(key);
    if (kept === undefined) ofType.set(key, { name: { type, key }, files: new Set([file]) });
    else kept.files.add(file);
  }

  delete(file: string, { type, key }: NamedResource): void {
    const ofType = this.#files.get(type.typeUrl);
    const kept = ofType?.get(key);
    kept?.files.delete(file);
    if (kept?.files.size === 0) ofType?.delete(key);
  }

  has(typeUrl: TypeUrl, key: Resource["key"]): boolean {
    return this.#files.get(typeUrl)?.has(key) === true;
  }

  *[Symbol.iterator](): Iterator<NamedResource> {
    for (const ofType of this.#files.values()) for (const { name } of ofType.values()) yield name;
  }
}
