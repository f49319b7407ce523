import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import {
  type Finding,
  maxFindings,
  type Registry,
  type ResourceType,
  type ResourceTypes,
  XdskitError,
} from "@xdskit/api";
import { type FileMode, replaceFiles } from "@xdskit/api/disk";
import type { ValidateLevel } from "@xdskit/client";
import { keptResource, type ReceivedResource } from "@xdskit/protocol";
import { type CachedType, type ReadCache, readCacheFile, writeCacheFile } from "./cache-file.js";

/** The files may hold private keys. */
const cacheMode: FileMode = { file: 0o600, folder: 0o700, durable: true };

/** The cached resources of one type. */
export interface FoundType extends CachedType {
  /** Whether the set is complete. */
  readonly isWhole: boolean;
}

export interface CacheFolderOptions {
  readonly directory: string;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  /** Identifies the first origin: only that origin understands its versions. */
  readonly origin: string;
  /** How strictly to check the content: as when it came. */
  readonly validate?: ValidateLevel | undefined;
}

/** Opens the folder, and makes it where it is missing. Rejects with an XdskitError if it cannot be used. */
export async function openCacheFolder(options: CacheFolderOptions): Promise<CacheFolder> {
  const { directory } = options;
  try {
    await mkdir(directory, { recursive: true, mode: cacheMode.folder });
    return new CacheFolder(options, await readdir(directory));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const what = `the cache cannot be used: ${code ?? message}`;
    throw XdskitError.of("XDSKIT_CACHE", what, { file: directory }, { cause });
  }
}

/** The cache of one group. */
export class CacheFolder {
  readonly #options: CacheFolderOptions;
  /** The files that are there. */
  readonly #found: readonly string[];
  /** Files that could not be set aside yet, by type: they must not be overwritten. */
  readonly #inTheWay = new Map<ResourceType, string>();

  constructor(options: CacheFolderOptions, found: readonly string[]) {
    this.#options = options;
    this.#found = found;
  }

  async #setAside(file: string): Promise<string> {
    const stamp = new Date().toISOString().replace(/[-:.]/g, "");
    const taken = new Set(await readdir(this.#options.directory));
    const named = (number: number) => `${file}.set-aside-${stamp}${number === 0 ? "" : `-${number}`}`;
    let number = 0;
    while (taken.has(named(number))) number += 1;
    await rename(join(this.#options.directory, file), join(this.#options.directory, named(number)));
    return named(number);
  }

  /** Reports the errors of a file, and sets it aside. */
  async #refuse(type: ResourceType, file: string, wrong: readonly Finding[]): Promise<readonly Finding[]> {
    const path = join(this.#options.directory, file);
    let became: string;
    try {
      became = `it was set aside as ${await this.#setAside(file)}`;
    } catch (error) {
      this.#inTheWay.set(type, file);
      became = `it cannot be set aside (${(error as NodeJS.ErrnoException).code}), so this type is not kept`;
    }
    const message = `${became}; clients that ask for all of ${type.name} get no answer before the origin says what there is`;
    return [
      ...wrong.slice(0, maxFindings).map((finding): Finding => {
        return { ...finding, severity: "error", file: path, type: type.name };
      }),
      { code: "XDSKIT_CACHE", severity: "error", message, file: path, type: type.name },
    ];
  }

  async #readOne(type: ResourceType, file: string): Promise<ReadCache> {
    try {
      const bytes = await readFile(join(this.#options.directory, file));
      return readCacheFile(bytes, type, this.#options.registry, this.#options.validate);
    } catch (error) {
      const { code = (error as Error).message } = error as NodeJS.ErrnoException;
      const findings: readonly Finding[] =
        error instanceof XdskitError ? error.findings : [{ code: "XDSKIT_CACHE", severity: "error", message: code }];
      return { type, resources: [], version: "", isAll: false, origin: "", findings };
    }
  }

  /**
   * Returns everything that can be trusted. A damaged file is reported and set aside, so that it is never overwritten.
   */
  async read(): Promise<{ readonly types: readonly FoundType[]; readonly findings: readonly Finding[] }> {
    const read: FoundType[] = [];
    const findings: Finding[] = [];
    for (const type of this.#options.types) {
      const file = `${type.name}.pb`;
      if (!this.#found.includes(file)) continue;
      const one = await this.#readOne(type, file);
      const isWhole = one.findings.length === 0;
      if (!isWhole) findings.push(...(await this.#refuse(type, file, one.findings)));
      // An incomplete set must be fetched again: a client that claims it would never hear of the missing resources.
      const isKnown = isWhole && one.origin === this.#options.origin;
      const { resources, version, isAll, origin } = one;
      const known = { type, resources, version, isAll, origin, isWhole };
      read.push(isKnown ? known : this.withoutVersions(known));
    }
    return { types: read, findings };
  }

  /** A type of which everything must come again. */
  readonly withoutVersions = (found: FoundType): FoundType => {
    const resources = found.resources.map((each) => withoutVersion(each, this.#options.registry));
    return { ...found, resources, version: "" };
  };

  /**
   * Replaces the files of these types, all in one turn: a relay that is killed leaves them of one moment. Rejects with
   * the system's error.
   */
  async write(all: readonly CachedType[]): Promise<void> {
    for (const { type } of all) {
      const blocking = this.#inTheWay.get(type);
      if (blocking !== undefined) await this.#setAside(blocking);
      this.#inTheWay.delete(type);
    }
    const pathOf = ({ type }: CachedType) => join(this.#options.directory, `${type.name}.pb`);
    await replaceFiles(new Map(all.map((one) => [pathOf(one), writeCacheFile(one)])), cacheMode);
  }
}

function withoutVersion(
  { type, name, aliases, ttl, typeUrl, value }: ReceivedResource,
  registry: Registry | undefined,
) {
  return keptResource({ type, name, version: "", aliases, ttl, typeUrl, value }, { registry });
}
