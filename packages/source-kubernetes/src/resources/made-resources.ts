import type { Resource, ResourceType } from "@xdskit/api";
import type { LayerUpdate } from "@xdskit/server";

/** What has changed of the resources since they were taken last. */
export interface TableChange {
  readonly upsert: readonly Resource[];
  readonly remove: readonly RemovedResource[];
}

/** `name` is the key: of a name that comes in variants, one of these. */
export interface RemovedResource {
  readonly type: ResourceType;
  readonly name: string;
}

/** A change that is being put together. */
export interface OpenChange {
  readonly upsert: Resource[];
  readonly remove: RemovedResource[];
}

/** The resources that were made for each object of the cluster. */
export class MadeResources {
  /** By the object, and by type and key. */
  readonly #made = new Map<string, ReadonlyMap<string, Resource>>();
  /** By type and key. */
  readonly #madeFor = new Map<string, string>();

  /** All of them. */
  *[Symbol.iterator](): Iterator<Resource> {
    for (const [object, made] of this.#made)
      for (const [id, resource] of made) if (this.#madeFor.get(id) === object) yield resource;
  }

  /** Those of one object. */
  of(object: string): readonly Resource[] {
    return [...(this.#made.get(object)?.values() ?? [])];
  }

  get({ type, name }: RemovedResource): Resource | undefined {
    const object = this.objectOf({ type, name });
    return object === undefined ? undefined : this.#made.get(object)?.get(idOf(type, name));
  }

  /** The object that a resource was made for. */
  objectOf({ type, name }: RemovedResource): string | undefined {
    return this.#madeFor.get(idOf(type, name));
  }

  /**
   * An object has these from now on: adds what is different. What it returns makes all as before; call it only if what
   * was replaced later was taken back.
   */
  replace(object: string, resources: readonly Resource[], { upsert, remove }: OpenChange): () => void {
    const before = this.#made.get(object);
    const made = new Map(resources.map((resource) => [idOf(resource.type, resource.key), resource]));
    /** But for what nobody had: that is most of all. */
    const owners = new Map<string, string>();
    for (const [id, resource] of made) {
      const owner = this.#madeFor.get(id);
      // Another object may have had it since.
      if (owner !== object || before?.get(id)?.version !== resource.version) upsert.push(resource);
      if (owner !== undefined) owners.set(id, owner);
      this.#madeFor.set(id, object);
    }
    for (const [id, { type, key }] of before ?? []) {
      // Another object may have it by now.
      if (made.has(id) || this.#madeFor.get(id) !== object) continue;
      remove.push({ type, name: key });
      owners.set(id, object);
      this.#madeFor.delete(id);
    }
    this.#set(object, made);
    return () => {
      for (const id of made.keys()) this.#madeFor.delete(id);
      for (const [id, owner] of owners) this.#madeFor.set(id, owner);
      this.#set(object, before);
    };
  }

  #set(object: string, made: ReadonlyMap<string, Resource> | undefined): void {
    if (made === undefined || made.size === 0) this.#made.delete(object);
    else this.#made.set(object, made);
  }
}

/** None for a change of nothing. */
export function updateOf(layer: string, { upsert, remove }: TableChange): readonly LayerUpdate[] {
  return upsert.length + remove.length === 0 ? [] : [{ layer, kind: "patch", upsert, remove }];
}

/** Names a resource among those of all types. */
export function idOf(type: ResourceType, key: string): string {
  return `${type.name} ${key}`;
}
