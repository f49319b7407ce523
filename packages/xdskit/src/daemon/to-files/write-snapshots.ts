import { setTimeout as delay } from "node:timers/promises";
import {
  createFromPaths,
  isApiListener,
  perObject,
  type Reference,
  type Registry,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
  readResources,
  XdskitError,
} from "@xdskit/api";
import { type Change, changeBetween, createDanglingNames, emptyResourceSet, type Snapshot } from "@xdskit/protocol";
import type { FileForm } from "./file-form.js";
import { fileFormats } from "./file-formats.js";
import { hasOwnFiles, inOrderOfFiles, resourceFile, typeFile } from "./file-names.js";
import type { FilesFolder } from "./files-folder.js";
import { createLingeringResources, type LingeringResources } from "./lingering-resources.js";

export interface WriteSnapshotsOptions {
  readonly folder: FilesFolder;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  readonly form: FileForm;
  /** The clients' path of the folder. */
  readonly path: string;
  /** How long removed resources stay, in milliseconds. */
  readonly lingerMs: number;
  /** Told once of each resource that no file can hold; it is left out. */
  unwritable(error: XdskitError): void;
  /**
   * The pause between clusters and the resources that name them, in milliseconds. A client that hears of all files at
   * once reads them in no certain order.
   */
  readonly pauseMs: number;
  now(): number;
}

/**
 * Writes snapshots as files, one after the other. Writes a file for each type, and a file for each resource of the
 * types that need it. A resource is written before others name it, and removed after a while, since clients do not
 * acknowledge files.
 */
export class SnapshotWriter {
  readonly #options: WriteSnapshotsOptions;
  readonly #order: readonly ResourceType[];
  readonly #fromPaths: (resource: Resource) => Resource;
  readonly #going: LingeringResources;
  readonly #dangling = createDanglingNames();
  readonly #shown = new Map<ResourceType, ReturnType<Snapshot["of"]>>();
  // The work that is left after a call that failed.
  readonly #placeholders = new Set<string>();
  readonly #dirty = new Set<ResourceType>();
  #sweep = false;
  #isFirst = true;
  readonly #pathOf = ({ type: url, name }: Reference): string | undefined => {
    const type = this.#options.types.byTypeUrl(url)?.type;
    if (type === undefined) return undefined;
    if (hasOwnFiles(type)) return `${this.#options.path}/${resourceFile(type, name, this.#options.form.format)}`;
    return name === "*" ? `${this.#options.path}/${typeFile(type, this.#options.form.format)}` : undefined;
  };

  /** Undefined: it cannot be written. */
  readonly #partOf = perObject((resource: Resource) => this.#partIfWritable(resource));

  /** Takes over the files of an earlier run. */
  static async open(options: WriteSnapshotsOptions): Promise<SnapshotWriter> {
    const writer = new SnapshotWriter(options);
    await writer.#takeOver();
    return writer;
  }

  private constructor(options: WriteSnapshotsOptions) {
    this.#options = options;
    this.#order = inOrderOfFiles(this.#options.types);
    this.#fromPaths = createFromPaths(this.#pathOf, this.#options.registry);
    this.#going = createLingeringResources(this.#options.lingerMs);
  }

  #partIfWritable(resource: Resource): Uint8Array | undefined {
    // For gRPC's clients, which read no files. Envoy would log a warning for each.
    if (isApiListener(resource)) return undefined;
    try {
      return this.#options.form.part(this.#fromPaths(resource));
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      this.#options.unwritable(error);
      return undefined;
    }
  }

  async #writeType(type: ResourceType, snapshot: Snapshot, { upserted }: Change): Promise<void> {
    const set = snapshot.of(type);
    if (hasOwnFiles(type)) {
      for (const resource of upserted) {
        const part = this.#partOf(resource);
        const file = resourceFile(type, resource.key, this.#options.form.format);
        if (part !== undefined)
          await this.#options.folder.write(file, this.#options.form.file(resource.version, [part]));
      }
    }
    const all = new Map<ResourceName, Uint8Array>();
    for (const resource of [...set, ...this.#going.of(type)]) {
      // A file can have only one of several variants of a name.
      const part = all.has(resource.name) ? undefined : this.#partOf(resource);
      if (part !== undefined) all.set(resource.name, part);
    }
    await this.#options.folder.write(
      typeFile(type, this.#options.form.format),
      this.#options.form.file(set.version, all.values()),
    );
    this.#shown.set(type, set);
  }

  /** A client rejects a resource that names a missing file. An empty file says that there is nothing yet. */
  async #writePlaceholders(): Promise<void> {
    for (const file of this.#placeholders) {
      if (!this.#options.folder.has(file)) await this.#options.folder.write(file, this.#options.form.file("", []));
      this.#placeholders.delete(file);
    }
  }

  #notePlaceholder(reference: Reference): void {
    const type = this.#options.types.byTypeUrl(reference.type)?.type;
    if (type !== undefined && hasOwnFiles(type))
      this.#placeholders.add(resourceFile(type, reference.name, this.#options.form.format));
  }

  /** Removes files of missing resources that nothing names. */
  async #removeFiles(snapshot: Snapshot): Promise<void> {
    const wanted = new Set<string>();
    for (const type of this.#order) {
      if (!hasOwnFiles(type)) continue;
      wanted.add(typeFile(type, this.#options.form.format));
      for (const { key } of [...snapshot.of(type), ...this.#going.of(type)])
        wanted.add(resourceFile(type, key, this.#options.form.format));
    }
    for (const set of snapshot.sets.values()) {
      for (const { references } of set) {
        for (const { type: url, name } of references) {
          const type = this.#options.types.byTypeUrl(url)?.type;
          if (type !== undefined && hasOwnFiles(type)) wanted.add(resourceFile(type, name, this.#options.form.format));
        }
      }
    }
    for (const file of [...this.#options.folder.paths]) {
      if (file.includes("/") && !wanted.has(file)) await this.#options.folder.remove(file);
    }
  }

  async #takeOver(): Promise<void> {
    for (const type of this.#order) {
      // Files of a run with another format: nobody updates them any more.
      for (const other of fileFormats)
        if (other !== this.#options.form.format) await this.#options.folder.remove(typeFile(type, other));
      const bytes = await this.#options.folder.read(typeFile(type, this.#options.form.format));
      if (bytes === undefined || hasOwnFiles(type)) continue;
      const { resources } = readResources(
        { path: typeFile(type, this.#options.form.format), bytes },
        { registry: this.#options.registry, types: this.#options.types, validate: false },
      );
      const removed = resources.map(({ resource }) => resource);
      this.#going.note(
        type,
        { differences: new Map(), hasAliases: false, hasHosts: false, adds: false, upserted: [], removed },
        this.#options.now(),
      );
    }
  }

  /** Updates the files to a snapshot. Rejects with the system's error; the next call goes on from there. */
  async bring(snapshot: Snapshot): Promise<void> {
    for (const reference of this.#dangling.update(snapshot).appeared) this.#notePlaceholder(reference);
    for (const { type } of this.#going.due(this.#options.now())) this.#dirty.add(type);
    // Files of an earlier run that nothing names go, too, once the time is over.
    this.#sweep ||= this.#dirty.size > 0 || (this.#isFirst && this.#going.deadline === undefined);
    if (this.#isFirst) for (const type of this.#order) if (type.fullState) this.#dirty.add(type);
    this.#isFirst = false;
    await this.#writePlaceholders();
    let pause = false;
    for (const type of this.#order) {
      const change = changeBetween(this.#shown.get(type) ?? emptyResourceSet(type), snapshot.of(type));
      const isChanged = change.upserted.length + change.removed.length > 0;
      if (!isChanged && !this.#dirty.has(type)) continue;
      this.#going.note(type, change, this.#options.now());
      // Resources that name a cluster are read after it.
      if (pause && isChanged) {
        await delay(this.#options.pauseMs);
        pause = false;
      }
      await this.#writeType(type, snapshot, change);
      this.#dirty.delete(type);
      pause ||= type.acknowledgedWarm && change.upserted.length > 0;
    }
    if (this.#sweep) await this.#removeFiles(snapshot);
    this.#sweep = false;
  }

  /** When to call it again even if nothing changed. */
  get deadline(): number | undefined {
    return this.#going.deadline;
  }
}
