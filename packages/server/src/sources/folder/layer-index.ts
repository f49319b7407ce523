import type { PositionedResource, Resource, ResourceType, TypeUrl, Where } from "@xdskit/api";
import type { LayerName, LayerUpdate } from "../../source.js";

/** A resource and the file that it is from. */
export interface Entry {
  readonly resource: Resource;
  readonly where: Where;
  /** Relative to the directory. */
  readonly file: string;
}

/** A change of one layer, not yet made. */
export interface LayerChange {
  readonly update: LayerUpdate;
  /** Places that hold the same as before once it is made. */
  readonly done: readonly Place[];
}

/** Where a resource of one type and key is, if it is there. */
interface Place {
  readonly type: ResourceType;
  readonly key: Resource["key"];
  /** What the files say; the same name in two files is a mistake. */
  entries: readonly Entry[];
  applied: Resource | undefined;
  /** Whether its entries changed since they were applied. */
  isTouched: boolean;
}

const noEntries: readonly Entry[] = [];

/**
 * What the files of one layer say, beside what was applied of it. Reading a file again costs that file's resources; what is to be
 * applied costs what was touched since the last time. Both whatever the total.
 */
export class LayerIndex {
  readonly layer: LayerName;
  readonly #places = new Map<TypeUrl, Map<Resource["key"], Place>>();
  readonly #counts = new Map<string, number>();
  #touched: Place[] = [];
  /** Those that more than one entry has. */
  readonly #doubled = new Set<Place>();

  constructor(layer: LayerName) {
    this.layer = layer;
  }

  /** How many resources are applied, by the type's name. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(file: string, resources: readonly PositionedResource[]): void {
    for (const { resource, where } of resources) {
      const entry = { resource, where, file };
      const places = this.#placesOf(resource.type.typeUrl);
      let place = places.get(resource.key);
      if (place === undefined) {
        place = {
          type: resource.type,
          key: resource.key,
          entries: [entry],
          applied: undefined,
          isTouched: false,
        };
        places.set(resource.key, place);
      } else {
        place.entries = [...place.entries, entry];
        if (place.entries.length > 1) this.#doubled.add(place);
      }
      this.#touch(place);
    }
  }

  remove(file: string, resources: readonly PositionedResource[]): void {
    for (const { resource } of resources) {
      const place = this.#places.get(resource.type.typeUrl)?.get(resource.key);
      if (place === undefined) continue;
      const left = place.entries.filter((entry) => entry.file !== file);
      place.entries = left.length === 0 ? noEntries : left;
      if (left.length < 2) this.#doubled.delete(place);
      this.#touch(place);
    }
  }

  /** Where a resource stands. */
  whereIs({ type, key }: Pick<Resource, "type" | "key">): Where | undefined {
    return this.#places.get(type.typeUrl)?.get(key)?.entries[0]?.where;
  }

  /** The entries that share a type and a name, in the order of their files. */
  *doubled(): Iterable<readonly Entry[]> {
    for (const { entries } of this.#doubled) yield [...entries].sort(byPlace);
  }

  /**
   * What is to be applied so that the layer holds what its files say, without the files left out.
   * Undefined: it does already.
   */
  change(kind: LayerUpdate["kind"], leftOut: ReadonlySet<string>): LayerChange | undefined {
    const upsert: Resource[] = [];
    const remove: { readonly type: Resource["type"]; readonly name: Resource["key"] }[] = [];
    const done: Place[] = [];
    for (const place of this.#touched) {
      const { entries, applied } = place;
      const entry = entries.find(({ file }) => !leftOut.has(file));
      if (entry !== undefined && entry.resource.version !== applied?.version) upsert.push(entry.resource);
      if (entry === undefined && applied !== undefined) remove.push({ type: applied.type, name: applied.key });
      if (leftOut.size === 0 || !entries.some(({ file }) => leftOut.has(file))) done.push(place);
    }
    const nothing = upsert.length === 0 && remove.length === 0 && kind === "patch";
    const update: LayerUpdate =
      kind === "replace" ? { layer: this.layer, kind, upsert } : { layer: this.layer, kind, upsert, remove };
    return nothing && done.length === 0 ? undefined : { update, done };
  }

  /** The change was made. */
  commit({ update, done }: LayerChange): void {
    for (const { type, name } of update.remove ?? []) this.#note(type, name, undefined);
    for (const resource of update.upsert) this.#note(resource.type, resource.key, resource);
    for (const place of done) {
      place.isTouched = false;
      if (place.entries.length === 0 && place.applied === undefined)
        this.#places.get(place.type.typeUrl)?.delete(place.key);
    }
    this.#touched = this.#touched.filter(({ isTouched }) => isTouched);
  }

  #touch(place: Place): void {
    if (place.isTouched) return;
    place.isTouched = true;
    this.#touched.push(place);
  }

  #placesOf(typeUrl: TypeUrl): Map<Resource["key"], Place> {
    let places = this.#places.get(typeUrl);
    if (places === undefined) {
      places = new Map();
      this.#places.set(typeUrl, places);
    }
    return places;
  }

  #note(type: ResourceType, key: Resource["key"], resource: Resource | undefined): void {
    const place = this.#places.get(type.typeUrl)?.get(key);
    if (place === undefined) return;
    const difference = (resource === undefined ? 0 : 1) - (place.applied === undefined ? 0 : 1);
    place.applied = resource;
    const count = (this.#counts.get(type.name) ?? 0) + difference;
    if (count === 0) this.#counts.delete(type.name);
    else this.#counts.set(type.name, count);
  }
}

function byPlace(a: Entry, b: Entry): number {
  return a.file === b.file ? (a.where.line ?? 0) - (b.where.line ?? 0) : a.file < b.file ? -1 : 1;
}
