import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Finding, type Registry, type ResourceTypes, XdskitError } from "@xdskit/api";
import { type FileMode, replaceFile } from "../files/replace-file.js";
import { type CachedType, createCacheText, readCacheFile } from "./cache-file.js";

/** There are private keys in it. */
const mode: FileMode = { file: 0o600, folder: 0o700, durable: true };

/** Whose versions those in the files are. Begins with a dot: a folder of resources may be made of the cache. */
const originFile = ".origin.json";

/** The cache of one group. */
export interface CacheFolder {
  /** All that is there and can be read; the rest comes from the origin. */
  read(): Promise<{ readonly types: readonly CachedType[]; readonly findings: readonly Finding[] }>;
  /** Replaces the file of a type. Rejects with the system's error. */
  write(cached: CachedType): Promise<void>;
  /** Notes who gave what is written from now on. */
  writeOrigin(server: string): Promise<void>;
}

export interface CacheFolderOptions {
  readonly directory: string;
  readonly types: ResourceTypes;
  readonly registry: Registry | undefined;
  /** What tells the origin that is asked first from others: its versions mean something to itself alone. */
  readonly origin: string;
}

/** Makes the folder where it is missing. Rejects with an XdskitError where it cannot be used. */
export async function openCacheFolder({
  directory,
  types,
  registry,
  origin,
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
  const textOf = createCacheText(registry);
  let knownOrigin: string | undefined;

  async function readOrigin(): Promise<string | undefined> {
    if (!found.includes(originFile)) return undefined;
    try {
      return (JSON.parse(await readFile(join(directory, originFile), "utf8")) as { origin?: string }).origin;
    } catch {
      return undefined;
    }
  }

  return {
    async read() {
      knownOrigin = await readOrigin();
      const read: CachedType[] = [];
      const findings: Finding[] = [];
      for (const type of types) {
        const name = `${type.name}.json`;
        if (!found.includes(name)) continue;
        const file = join(directory, name);
        try {
          const bytes = await readFile(file);
          const found = readCacheFile({ path: file, bytes }, type, knownOrigin === origin, registry);
          read.push(found);
          for (const finding of found.findings) findings.push({ ...finding, severity: "warning" });
        } catch (error) {
          const { code = "it cannot be read" } = error as NodeJS.ErrnoException;
          findings.push({ code: "XDSKIT_CACHE", severity: "warning", message: `left out: ${code}`, file });
        }
      }
      return { types: read, findings };
    },
    write: (cached) => replaceFile(join(directory, `${cached.type.name}.json`), textOf(cached), mode),
    async writeOrigin(server) {
      if (server === knownOrigin) return;
      await replaceFile(join(directory, originFile), `${JSON.stringify({ origin: server })}\n`, mode);
      knownOrigin = server;
    },
  };
}
