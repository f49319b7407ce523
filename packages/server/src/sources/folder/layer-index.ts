import type { PositionedResource, Resource, Where } from "@xdskit/api";
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
  /** Keys that hold the same as before once it is made. */
  readonly done: readonly string[];
}

/**
 * What the files of one layer say, beside what was applied of it. Reading a file again costs that file's resources; what is to be
 * applied costs what was touched since the last time. Both whatever the total.
 */
export class LayerIndex {
  readonly layer: LayerName;
  readonly #entries = new Map<string, readonly Entry[]>();
  readonly #applied = new Map<string, Resource>();
  readonly #counts = new Map<string, number>();
  /** Keys whose entries changed since they were applied. */
  readonly #touched = new Set<string>();
  /** Keys that more than one entry has. */
  readonly #doubled = new Set<string>();

  constructor(layer: LayerName) {
    this.layer = layer;
  }

  /** How many resources are applied, by the type's name. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  add(file: string, resources: readonly PositionedResource[]): void {
    for (const { resource, where } of resources) {
      const key = keyOf(resource);
      const entries = this.#entries.get(key);
      this.#entries.set(
        key,
        entries === undefined ? [{ resource, where, file }] : [...entries, { resource, where, file }],
      );
      this.#touched.add(key);
      if (entries !== undefined) this.#doubled.add(key);
    }
  }

  remove(file: string, resources: readonly PositionedResource[]): void {
    for (const { resource } of resources) {
      const key = keyOf(resource);
      const left = (this.#entries.get(key) ?? []).filter((entry) => entry.file !== file);
      if (left.length === 0) this.#entries.delete(key);
      else this.#entries.set(key, left);
      if (left.length < 2) this.#doubled.delete(key);
      this.#touched.add(key);
    }
  }

  /** Where a resource stands. */
  whereIs(resource: Pick<Resource, "type" | "key">): Where | undefined {
    return this.#entries.get(keyOf(resource))?.[0]?.where;
  }

  /** The entries that share a type and a name, in the order of their files. */
  *doubled(): Iterable<readonly Entry[]> {
    for (const key of this.#doubled) yield [...(this.#entries.get(key) ?? [])].sort(byPlace);
  }

  /**
   * What is to be applied so that the layer holds what its files say, without the files left out.
   * Undefined: it does already.
   */
  change(kind: LayerUpdate["kind"], leftOut: ReadonlySet<string>): LayerChange | undefined {
    const upsert: Resource[] = [];
    const remove: { readonly type: Resource["type"]; readonly name: Resource["key"] }[] = [];
    const done: string[] = [];
    for (const key of this.#touched) {
      const entries = this.#entries.get(key) ?? [];
      const entry = entries.find(({ file }) => !leftOut.has(file));
      const applied = this.#applied.get(key);
      if (entry !== undefined && entry.resource.version !== applied?.version) upsert.push(entry.resource);
      if (entry === undefined && applied !== undefined) remove.push({ type: applied.type, name: applied.key });
      if (!entries.some(({ file }) => leftOut.has(file))) done.push(key);
    }
    const nothing = upsert.length === 0 && remove.length === 0 && kind === "patch";
    const update: LayerUpdate =
      kind === "replace" ? { layer: this.layer, kind, upsert } : { layer: this.layer, kind, upsert, remove };
    return nothing && done.length === 0 ? undefined : { update, done };
  }

  /** The change was made. */
  commit({ update, done }: LayerChange): void {
    for (const { type, name } of update.remove ?? []) this.#note({ type, key: name }, undefined);
    for (const resource of update.upsert) this.#note(resource, resource);
    for (const key of done) this.#touched.delete(key);
  }

  #note(named: Pick<Resource, "type" | "key">, resource: Resource | undefined): void {
    const key = keyOf(named);
    const difference = (resource === undefined ? 0 : 1) - (this.#applied.has(key) ? 1 : 0);
    if (resource === undefined) this.#applied.delete(key);
    else this.#applied.set(key, resource);
    const count = (this.#counts.get(named.type.name) ?? 0) + difference;
    if (count === 0) this.#counts.delete(named.type.name);
    else this.#counts.set(named.type.name, count);
  }
}

function keyOf({ type, key }: Pick<Resource, "type" | "key">): string {
  return `${type.typeUrl} ${key}`;
}

function byPlace(a: Entry, b: Entry): number {
  return a.file === b.file ? (a.where.line ?? 0) - (b.where.line ?? 0) : a.file < b.file ? -1 : 1;
}
