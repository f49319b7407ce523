import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type Finding,
  type Registry,
  type ResourceType,
  type ResourceTypes,
  readResources,
  XdskitError,
} from "@xdskit/api";
import type { ValidateLevel } from "@xdskit/client";
import { keptResource, type ReceivedResource, receivedResource } from "@xdskit/protocol";
import { type FileMode, replaceFile } from "../files/replace-file.js";
import { type CachedType, type ReadCache, readCacheFile, writeCacheFile } from "./cache-file.js";

/** There are private keys in it. */
const mode: FileMode = { file: 0o600, folder: 0o700, durable: true };

/** More than anybody reads of one file. */
const mostFindings = 20;

/** What was read of one type. */
export interface FoundType extends CachedType {
  /** It is all that there was. */
  readonly isWhole: boolean;
}

/** The cache of one group. */
export interface CacheFolder {
  /** All that is there and can be believed. What is wrong with a file is told, and the file set aside: nothing writes over it. */
  read(): Promise<{ readonly types: readonly FoundType[]; readonly findings: readonly Finding[] }>;
  /** Replaces the file of a type. Rejects with the system's error. */
  write(cached: CachedType): Promise<void>;
}

export interface CacheFolderOptions {
  readonly directory: string;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  /** What tells the origin that is asked first from others: its versions mean something to itself alone. */
  readonly origin: string;
  /** How far what is in it is judged: as it was when it came. */
  readonly validate?: ValidateLevel | undefined;
}

/** Makes the folder where it is missing. Rejects with an XdskitError where it cannot be used. */
export async function openCacheFolder({
  directory,
  types,
  registry,
  origin,
  validate,
}: CacheFolderOptions): Promise<CacheFolder> {
  let found: readonly string[];
  try {
    await mkdir(directory, { recursive: true, mode: mode.folder });
    found = await readdir(directory);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const what = `the cache cannot be used: ${code ?? message}`;
    throw XdskitError.of("XDSKIT_CACHE", what, { file: directory }, { cause });
  }
  /** Files that could not be set aside yet, by type: nothing is written there before. */
  const inTheWay = new Map<ResourceType, string>();
  /** Files of the old format, which go once there is one of the new. */
  const old = new Map<ResourceType, string>();

  async function setAside(file: string): Promise<string> {
    const stamp = new Date().toISOString().replace(/[-:.]/g, "");
    const taken = new Set(await readdir(directory));
    const named = (number: number) => `${file}.set-aside-${stamp}${number === 0 ? "" : `-${number}`}`;
    let number = 0;
    while (taken.has(named(number))) number += 1;
    await rename(join(directory, file), join(directory, named(number)));
    return named(number);
  }

  /** Tells what is wrong with a file, and sets it aside. */
  async function refuse(type: ResourceType, file: string, wrong: readonly Finding[]): Promise<readonly Finding[]> {
    const path = join(directory, file);
    let became: string;
    try {
      became = `it was set aside as ${await setAside(file)}`;
    } catch (error) {
      inTheWay.set(type, file);
      became = `it cannot be set aside (${(error as NodeJS.ErrnoException).code}), so this type is not kept`;
    }
    const message = `${became}; clients that ask for all of ${type.name} get no answer before the origin says what there is`;
    return [
      ...wrong.slice(0, mostFindings).map((finding) => ({ ...finding, severity: "error" as const, file: path })),
      { code: "XDSKIT_CACHE", severity: "error", message, file: path, type: type.name },
    ];
  }

  async function readOne(type: ResourceType, file: string): Promise<ReadCache> {
    try {
      const bytes = await readFile(join(directory, file));
      return file.endsWith(".json") ? readJson(file, bytes, type) : readCacheFile(bytes, type, registry, validate);
    } catch (error) {
      const { code = (error as Error).message } = error as NodeJS.ErrnoException;
      const findings: readonly Finding[] =
        error instanceof XdskitError ? error.findings : [{ code: "XDSKIT_CACHE", severity: "error", message: code }];
      return { type, resources: [], version: "", origin: "", findings };
    }
  }

  /** Before there was a checksum, files were JSON. Whose versions they have is not asked: everything comes anew. */
  function readJson(path: string, bytes: Uint8Array, type: ResourceType): ReadCache {
    const { resources, findings } = readResources(
      { path, bytes },
      { registry, validate: validate === "full", envoy: false },
    );
    const ofType = resources.filter(({ resource }) => resource.type === type);
    const kept = ofType.map(({ resource }) => receivedResource(resource, "", { registry }));
    return { type, resources: kept, version: "", origin: "", findings };
  }

  return {
    async read() {
      const read: FoundType[] = [];
      const findings: Finding[] = [];
      for (const type of types) {
        const json = `${type.name}.json`;
        const file = [`${type.name}.pb`, json].find((each) => found.includes(each));
        if (found.includes(json)) old.set(type, json);
        if (file === undefined) continue;
        const one = await readOne(type, file);
        const isWhole = one.findings.length === 0;
        if (!isWhole) {
          findings.push(...(await refuse(type, file, one.findings)));
          if (file === json) old.delete(type);
        }
        // Of a part everything is to come anew: who claims all that it has hears nothing of what it lacks.
        const isKnown = isWhole && one.origin === origin;
        const resources = isKnown ? one.resources : one.resources.map((each) => withoutVersion(each, registry));
        read.push({ type, resources, version: isKnown ? one.version : "", origin: one.origin, isWhole });
      }
      return { types: read, findings };
    },
    async write(cached) {
      const { type } = cached;
      const blocking = inTheWay.get(type);
      if (blocking !== undefined) await setAside(blocking);
      inTheWay.delete(type);
      await replaceFile(join(directory, `${type.name}.pb`), writeCacheFile(cached), mode);
      const before = old.get(type);
      if (before !== undefined) await rm(join(directory, before), { force: true });
      old.delete(type);
    },
  };
}

function withoutVersion(
  { type, name, aliases, ttl, typeUrl, value }: ReceivedResource,
  registry: Registry | undefined,
) {
  return keptResource({ type, name, version: "", aliases, ttl, typeUrl, value }, { registry });
}
