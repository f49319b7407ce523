import {
  getOrInsert,
  type PositionedResource,
  type Resource,
  type ResourceType,
  type TypeUrl,
  type Where,
} from "@xdskit/api";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerName } from "../../settings/group-settings.js";
import { KeptNames, type TypeAndKey } from "./kept-names.js";
import type { SkippedStanding } from "./skipping.js";

/** A resource and the file that it is from. */
export interface LayerIndexEntry {
  readonly resource: Resource;
  readonly where: Where;
  /** Relative to the directory. */
  readonly file: string;
}

/** A change of one layer, not yet made. */
export interface IndexedChange {
  readonly update: LayerUpdate;
  /** The places of the resources that the update upserts, then of those it removes, in order. */
  readonly upserted: readonly EntryPlace[];
  readonly removed: readonly EntryPlace[];
  /** Places that have no difference left once the change is made. */
  readonly done: readonly EntryPlace[];
}

/** All places of one type. */
interface Places {
  readonly type: ResourceType;
  readonly byKey: Map<Resource["key"], EntryPlace>;
  /** The number of applied ones. */
  applied: number;
}

/** The entries of one type and key. */
interface EntryPlace {
  readonly ofType: Places;
  readonly key: Resource["key"];
  /** The entry in a file; undefined if there is none. */
  entry: PositionedResource | undefined;
  /** The file of the entry, relative to the directory. */
  file: string;
  /**
   * Other entries with the same name, which is an error, by file; undefined if there are none. A folder of copies may
   * have thousands of them.
   */
  others: Map<string, PositionedResource[]> | undefined;
  applied: Resource | undefined;
  /** The file that the applied resource is in, or was when it was applied. */
  appliedFile: string | undefined;
  /** Whether its entries changed since they were applied. */
  isTouched: boolean;
}

const none: readonly LayerIndexEntry[] = [];

/**
 * The resources of one layer's files, beside the applied ones. Reading a file again costs that file's resources; a
 * change costs the entries touched since the last one, whatever the total.
 */
export class LayerIndex {
  readonly layer: LayerName;
  readonly #places = new Map<TypeUrl, Places>();
  #touched: EntryPlace[] = [];
  /** Places with more than one entry. */
  readonly #doubled = new Set<EntryPlace>();
  readonly #kept = new KeptNames();

  constructor(layer: LayerName) {
    this.layer = layer;
  }

  /** The number of applied resources, by the type's name. */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { type, applied } of this.#places.values()) if (applied > 0) counts.set(type.name, applied);
    return counts;
  }

  add(file: string, resources: readonly PositionedResource[]): void {
    for (const entry of resources) {
      const { resource } = entry;
      const ofType = this.#placesOf(resource.type);
      let place = ofType.byKey.get(resource.key);
      if (place === undefined) {
        place = {
          ofType,
          key: resource.key,
          entry,
          file,
          others: undefined,
          applied: undefined,
          appliedFile: undefined,
          isTouched: false,
        };
        ofType.byKey.set(resource.key, place);
      } else if (place.entry === undefined) {
        place.entry = entry;
        place.file = file;
      } else {
        place.others ??= new Map();
        getOrInsert(place.others, file, () => []).push(entry);
        this.#doubled.add(place);
      }
      this.#touch(place);
    }
  }

  remove(file: string, resources: readonly PositionedResource[]): void {
    for (const { resource } of resources) {
      const place = this.#places.get(resource.type.typeUrl)?.byKey.get(resource.key);
      if (place === undefined) continue;
      place.others?.delete(file);
      if (place.entry !== undefined && place.file === file) takeNext(place);
      if (place.others?.size === 0) {
        place.others = undefined;
        this.#doubled.delete(place);
      }
      this.#touch(place);
    }
  }

  /** The applied contents of these names stay as long as the file exists, unless a file defines them. */
  keep(file: string, names: readonly TypeAndKey[]): void {
    for (const name of names) this.#kept.add(file, name);
  }

  /** The opposite of `keep`. */
  release(file: string, names: readonly TypeAndKey[]): void {
    for (const name of names) {
      this.#kept.delete(file, name);
      const place = this.#places.get(name.type.typeUrl)?.byKey.get(name.key);
      if (place !== undefined) this.#touch(place);
    }
  }

  /** The content served under a name that is kept, or that several entries have. */
  standingOf({ type, key }: TypeAndKey): SkippedStanding {
    const place = this.#places.get(type.typeUrl)?.byKey.get(key);
    if (place?.entry !== undefined && !this.#doubled.has(place)) return "elsewhere";
    return place?.applied === undefined ? "absent" : "lastGood";
  }

  /** All kept names, and names with several entries. */
  *skipped(): Iterable<TypeAndKey> {
    for (const name of this.#kept) yield name;
    for (const place of this.#doubled) {
      if (!this.#isKept(place)) yield { type: place.ofType.type, key: place.key };
    }
  }

  /** The place of a resource's definition. */
  whereIs({ type, key }: Pick<Resource, "type" | "key">): Where | undefined {
    return this.#places.get(type.typeUrl)?.byKey.get(key)?.entry?.where;
  }

  /** The file of a resource's definition. */
  fileOf({ type, key }: Pick<Resource, "type" | "key">): string | undefined {
    return this.#places.get(type.typeUrl)?.byKey.get(key)?.file;
  }

  /** The entries that share a type and a name, in the order of their files. */
  *doubled(): Iterable<readonly LayerIndexEntry[]> {
    for (const place of this.#doubled) yield [...entriesOf(place)].sort(byPlace);
  }

  /**
   * The change that brings the layer to the state of its files, without the files left out. Undefined means no change.
   */
  change(kind: LayerUpdate["kind"], leftOut: ReadonlySet<string>): IndexedChange | undefined {
    const upsert: Resource[] = [];
    const remove: { readonly type: Resource["type"]; readonly name: Resource["key"] }[] = [];
    const upserted: EntryPlace[] = [];
    const removed: EntryPlace[] = [];
    const files = new Set<string>();
    // All touched places, except entries of the files left out.
    const done: EntryPlace[] = leftOut.size === 0 ? this.#touched.slice() : [];
    for (const place of this.#touched) {
      const { applied } = place;
      const entries = leftOut.size === 0 ? none : entriesOf(place);
      // None of several entries with one name has priority.
      const isDoubled = leftOut.size === 0 && this.#doubled.has(place);
      const said = leftOut.size === 0 ? place.entry : entries.find(({ file }) => !leftOut.has(file));
      const entry = isDoubled ? undefined : said;
      if (entry !== undefined && entry.resource.version !== applied?.version) {
        upsert.push(entry.resource);
        upserted.push(place);
        files.add(entries.find(({ resource }) => resource === entry.resource)?.file ?? place.file);
        if (place.appliedFile !== undefined) files.add(place.appliedFile);
      }
      if (entry === undefined && applied !== undefined && !isDoubled && !this.#isKept(place)) {
        remove.push({ type: applied.type, name: applied.key });
        removed.push(place);
        files.add(place.appliedFile ?? place.file);
      }
      if (leftOut.size > 0 && !entries.some(({ file }) => leftOut.has(file))) done.push(place);
    }
    const nothing = upsert.length === 0 && remove.length === 0 && kind === "patch";
    const update: LayerUpdate = {
      layer: this.layer,
      kind,
      upsert,
      ...(kind === "replace" ? {} : { remove }),
      ...(files.size === 0 ? {} : { files: [...files] }),
    };
    return nothing && done.length === 0 ? undefined : { update, upserted, removed, done };
  }

  /** Records that the change was made. */
  commit({ update, upserted, removed, done }: IndexedChange): void {
    for (const place of removed) {
      place.applied = undefined;
      place.appliedFile = undefined;
      place.ofType.applied -= 1;
    }
    for (let index = 0; index < upserted.length; index += 1) {
      const place = upserted[index] as EntryPlace;
      if (place.applied === undefined) place.ofType.applied += 1;
      place.applied = update.upsert[index];
      place.appliedFile = place.file;
    }
    for (const place of done) {
      place.isTouched = false;
      // The same content may be in another file now.
      if (place.entry !== undefined && !this.#doubled.has(place)) place.appliedFile = place.file;
      if (place.entry === undefined && place.applied === undefined) place.ofType.byKey.delete(place.key);
    }
    this.#touched = done.length === this.#touched.length ? [] : this.#touched.filter(({ isTouched }) => isTouched);
  }

  #isKept({ ofType, key }: EntryPlace): boolean {
    return this.#kept.has({ type: ofType.type, key });
  }

  #touch(place: EntryPlace): void {
    if (place.isTouched) return;
    place.isTouched = true;
    this.#touched.push(place);
  }

  #placesOf(type: ResourceType): Places {
    return getOrInsert(this.#places, type.typeUrl, () => ({ type, byKey: new Map(), applied: 0 }));
  }
}

function entriesOf({ entry, file, others }: EntryPlace): readonly LayerIndexEntry[] {
  if (entry === undefined) return none;
  const first = { resource: entry.resource, where: entry.where, file };
  return others === undefined ? [first] : [first, ...Array.from(others).flatMap(ofFile)];
}

function ofFile([file, entries]: readonly [string, readonly PositionedResource[]]): readonly LayerIndexEntry[] {
  return entries.map(({ resource, where }) => ({ resource, where, file }));
}

/** Replaces an entry that is gone by the next one. */
function takeNext(place: EntryPlace): void {
  place.entry = undefined;
  for (const [file, [entry, ...more]] of place.others ?? []) {
    if (more.length === 0) place.others?.delete(file);
    else place.others?.set(file, more);
    place.entry = entry;
    place.file = file;
    return;
  }
}

function byPlace(a: LayerIndexEntry, b: LayerIndexEntry): number {
  return a.file === b.file ? (a.where.line ?? 0) - (b.where.line ?? 0) : a.file < b.file ? -1 : 1;
}
