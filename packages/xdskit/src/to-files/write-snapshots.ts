import { setTimeout as delay } from "node:timers/promises";
import {
  createFromPaths,
  createResourceJson,
  type Finding,
  keptFindings,
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
import { responseText, wrapped } from "../files/resource-text.js";
import { hasOwnFiles, inOrderOfFiles, resourceFile, typeFile } from "./file-names.js";
import type { FilesFolder } from "./files-folder.js";
import { createGoing } from "./going.js";

export interface WriteSnapshotsOptions {
  readonly folder: FilesFolder;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  /** What clients call the folder. */
  readonly path: string;
  /** How long what was removed stays, in milliseconds. */
  readonly lingerMs: number;
  /** Told once of each resource that no file can hold; it is left out. */
  unwritable(error: XdskitError): void;
  /** Told once of each content of which a file has something in base64 only, which Envoy does not read. */
  incomplete(findings: readonly Finding[]): void;
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
  const { folder, types, registry, path, lingerMs, pauseMs, now } = options;
  const order = inOrderOfFiles(types);
  const json = createResourceJson(registry, (resource, _api, kept) => options.incomplete(keptFindings(resource, kept)));
  const fromPaths = createFromPaths(pathOf, registry);
  const going = createGoing(lingerMs);
  const dangling = createDanglingNames();
  const shown = new Map<ResourceType, ReturnType<Snapshot["of"]>>();
  /** Undefined: it cannot be written. */
  const texts = new WeakMap<Resource, string | undefined>();
  // What is still to be done after a call that failed.
  const placeholders = new Set<string>();
  const dirty = new Set<ResourceType>();
  let sweep = false;
  let isFirst = true;

  function pathOf({ type: url, name }: Reference): string | undefined {
    const type = types.byTypeUrl(url)?.type;
    if (type === undefined) return undefined;
    if (hasOwnFiles(type)) return `${path}/${resourceFile(type, name)}`;
    return name === "*" ? `${path}/${typeFile(type)}` : undefined;
  }

  function textOf(resource: Resource): string | undefined {
    if (texts.has(resource)) return texts.get(resource);
    let text: string | undefined;
    try {
      text = write(fromPaths(resource));
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      options.unwritable(error);
    }
    texts.set(resource, text);
    return text;
  }

  function write(resource: Resource): string {
    const bare = Buffer.from(json(resource, "v3")).toString();
    const { type, name, aliases } = resource;
    // A virtual host's own name is only a part of it, and the member of a locality has none.
    return aliases.length > 0 || type.services.v3?.stream === undefined ? wrapped({ name, aliases }, bare) : bare;
  }

  async function writeType(type: ResourceType, snapshot: Snapshot, { upserted }: Change): Promise<void> {
    const set = snapshot.of(type);
    if (hasOwnFiles(type)) {
      for (const resource of upserted) {
        const text = textOf(resource);
        const file = resourceFile(type, resource.key);
        if (text !== undefined) await folder.write(file, responseText(resource.version, [text]));
      }
    }
    const all = new Map<ResourceName, string>();
    for (const resource of [...set, ...going.of(type)]) {
      // Of several variants of a name a file can have one.
      const text = all.has(resource.name) ? undefined : textOf(resource);
      if (text !== undefined) all.set(resource.name, text);
    }
    await folder.write(typeFile(type), responseText(set.version, all.values()));
    shown.set(type, set);
  }

  /** A client rejects what names a file that is not there. An empty one says that there is nothing yet. */
  async function writePlaceholders(): Promise<void> {
    for (const file of placeholders) {
      if (!folder.has(file)) await folder.write(file, responseText("", []));
      placeholders.delete(file);
    }
  }

  function notePlaceholder(reference: Reference): void {
    const type = types.byTypeUrl(reference.type)?.type;
    if (type !== undefined && hasOwnFiles(type)) placeholders.add(resourceFile(type, reference.name));
  }

  /** Files of resources that are not there and that nothing names. */
  async function removeFiles(snapshot: Snapshot): Promise<void> {
    const wanted = new Set<string>();
    for (const type of order) {
      if (!hasOwnFiles(type)) continue;
      wanted.add(typeFile(type));
      for (const { key } of [...snapshot.of(type), ...going.of(type)]) wanted.add(resourceFile(type, key));
    }
    for (const set of snapshot.sets.values()) {
      for (const { references } of set) {
        for (const { type: url, name } of references) {
          const type = types.byTypeUrl(url)?.type;
          if (type !== undefined && hasOwnFiles(type)) wanted.add(resourceFile(type, name));
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
        const bytes = await folder.read(typeFile(type));
        if (bytes === undefined || hasOwnFiles(type)) continue;
        const { resources } = readResources({ path: typeFile(type), bytes }, { registry, types, validate: false });
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
