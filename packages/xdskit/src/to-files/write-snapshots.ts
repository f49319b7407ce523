import { setTimeout as delay } from "node:timers/promises";
import {
  createFromPaths,
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
import { createGoing } from "./going.js";

export interface WriteSnapshotsOptions {
  readonly folder: FilesFolder;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  readonly form: FileForm;
  /** What clients call the folder. */
  readonly path: string;
  /** How long what was removed stays, in milliseconds. */
  readonly lingerMs: number;
  /** Told once of each resource that no file can hold; it is left out. */
  unwritable(error: XdskitError): void;
  /** Between clusters and what names them, in milliseconds: a client reads each file when it hears of it, in no certain order if it hears of all at once. */
  readonly pauseMs: number;
  now(): number;
}

/** Writes snapshots as files, one after the other. */
export interface SnapshotWriter {
  /** Takes over what an earlier run left. To be called once, before all else. */
  begin(): Promise<void>;
  /** Brings the files to a snapshot. Rejects with the system's error; called again it goes on from there. */
  bring(snapshot: Snapshot): Promise<void>;
  /** When it is to be called again although nothing changed. */
  readonly deadline: number | undefined;
}

/**
 * A file for each type, and for types of which a client reads one resource a file such a file for each resource; written in an order in which nothing is named before
 * it is there, and removed after a while, since no client acknowledges a file.
 */
export function createSnapshotWriter(options: WriteSnapshotsOptions): SnapshotWriter {
  const { folder, types, registry, form, path, lingerMs, pauseMs, now } = options;
  const order = inOrderOfFiles(types);
  const fromPaths = createFromPaths(pathOf, registry);
  const going = createGoing(lingerMs);
  const dangling = createDanglingNames();
  const shown = new Map<ResourceType, ReturnType<Snapshot["of"]>>();
  /** Undefined: it cannot be written. */
  const parts = new WeakMap<Resource, Uint8Array | undefined>();
  // What is still to be done after a call that failed.
  const placeholders = new Set<string>();
  const dirty = new Set<ResourceType>();
  let sweep = false;
  let isFirst = true;

  function pathOf({ type: url, name }: Reference): string | undefined {
    const type = types.byTypeUrl(url)?.type;
    if (type === undefined) return undefined;
    if (hasOwnFiles(type)) return `${path}/${resourceFile(type, name, form.format)}`;
    return name === "*" ? `${path}/${typeFile(type, form.format)}` : undefined;
  }

  function partOf(resource: Resource): Uint8Array | undefined {
    if (parts.has(resource)) return parts.get(resource);
    let part: Uint8Array | undefined;
    try {
      part = form.part(fromPaths(resource));
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      options.unwritable(error);
    }
    parts.set(resource, part);
    return part;
  }

  async function writeType(type: ResourceType, snapshot: Snapshot, { upserted }: Change): Promise<void> {
    const set = snapshot.of(type);
    if (hasOwnFiles(type)) {
      for (const resource of upserted) {
        const part = partOf(resource);
        const file = resourceFile(type, resource.key, form.format);
        if (part !== undefined) await folder.write(file, form.file(resource.version, [part]));
      }
    }
    const all = new Map<ResourceName, Uint8Array>();
    for (const resource of [...set, ...going.of(type)]) {
      // Of several variants of a name a file can have one.
      const part = all.has(resource.name) ? undefined : partOf(resource);
      if (part !== undefined) all.set(resource.name, part);
    }
    await folder.write(typeFile(type, form.format), form.file(set.version, all.values()));
    shown.set(type, set);
  }

  /** A client rejects what names a file that is not there. An empty one says that there is nothing yet. */
  async function writePlaceholders(): Promise<void> {
    for (const file of placeholders) {
      if (!folder.has(file)) await folder.write(file, form.file("", []));
      placeholders.delete(file);
    }
  }

  function notePlaceholder(reference: Reference): void {
    const type = types.byTypeUrl(reference.type)?.type;
    if (type !== undefined && hasOwnFiles(type)) placeholders.add(resourceFile(type, reference.name, form.format));
  }

  /** Files of resources that are not there and that nothing names. */
  async function removeFiles(snapshot: Snapshot): Promise<void> {
    const wanted = new Set<string>();
    for (const type of order) {
      if (!hasOwnFiles(type)) continue;
      wanted.add(typeFile(type, form.format));
      for (const { key } of [...snapshot.of(type), ...going.of(type)]) wanted.add(resourceFile(type, key, form.format));
    }
    for (const set of snapshot.sets.values()) {
      for (const { references } of set) {
        for (const { type: url, name } of references) {
          const type = types.byTypeUrl(url)?.type;
          if (type !== undefined && hasOwnFiles(type)) wanted.add(resourceFile(type, name, form.format));
        }
      }
    }
    for (const file of [...folder.paths]) {
      if (file.includes("/") && !wanted.has(file)) await folder.remove(file);
    }
  }

  return {
    async begin() {
      for (const type of order) {
        // Of a run that wrote another format: nobody keeps them up to date any more.
        for (const other of fileFormats) if (other !== form.format) await folder.remove(typeFile(type, other));
        const bytes = await folder.read(typeFile(type, form.format));
        if (bytes === undefined || hasOwnFiles(type)) continue;
        const { resources } = readResources(
          { path: typeFile(type, form.format), bytes },
          { registry, types, validate: false },
        );
        const removed = resources.map(({ resource }) => resource);
        going.changed(type, { differences: new Map(), hasAliases: false, adds: false, upserted: [], removed }, now());
      }
    },
    async bring(snapshot) {
      for (const reference of dangling.update(snapshot).appeared) notePlaceholder(reference);
      for (const { type } of going.due(now())) dirty.add(type);
      // What an earlier run left and is named no more goes once that is over, too.
      sweep ||= dirty.size > 0 || (isFirst && going.deadline === undefined);
      if (isFirst) for (const type of order) if (type.fullState) dirty.add(type);
      isFirst = false;
      await writePlaceholders();
      let pause = false;
      for (const type of order) {
        const change = changeBetween(shown.get(type) ?? emptyResourceSet(type), snapshot.of(type));
        const isChanged = change.upserted.length + change.removed.length > 0;
        if (!isChanged && !dirty.has(type)) continue;
        going.changed(type, change, now());
        // What names a cluster is read after it.
        if (pause && isChanged) {
          await delay(pauseMs);
          pause = false;
        }
        await writeType(type, snapshot, change);
        dirty.delete(type);
        pause ||= type.acknowledgedWarm && change.upserted.length > 0;
      }
      if (sweep) await removeFiles(snapshot);
      sweep = false;
    },
    get deadline() {
      return going.deadline;
    },
  };
}
