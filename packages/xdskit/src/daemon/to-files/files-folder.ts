import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ResourceType, type ResourceTypes, XdskitError } from "@xdskit/api";
import { type FileMode, replaceFile } from "@xdskit/api/disk";
import { fileFormats } from "./file-formats.js";
import { hasOwnFiles, typeFile } from "./file-names.js";

/** Any file may hold private keys. A client that runs as another user reads them through its group. */
const filesMode: FileMode = { file: 0o640, folder: 0o750, durable: false };

/** Marks a folder whose files xdskit may replace and remove. */
const marker = ".xdskit-to-files";

/** The folder that is written. Paths are relative to it. */
export interface FilesFolder {
  /** The resource files that exist. */
  readonly paths: ReadonlySet<string>;
  /** Whether a file exists. */
  has(path: string): boolean;
  write(path: string, content: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Undefined if it does not exist. */
  read(path: string): Promise<Uint8Array | undefined>;
}

/** Takes over a folder. Rejects with an XdskitError if it holds other files, or cannot be written. */
export async function openFilesFolder(directory: string, types: ResourceTypes): Promise<FilesFolder> {
  const paths = new Set<string>();
  try {
    const found = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    if (found.length > 0 && !found.includes(marker)) {
      throw XdskitError.of("XDSKIT_TO_FILES", "the folder holds files of somebody else: name one that is empty", {
        file: directory,
      });
    }
    await replaceFile(join(directory, marker), "written by xdskit: files here are replaced and removed\n", filesMode);
    for (const type of types) {
      for (const format of fileFormats) {
        if (found.includes(typeFile(type, format))) paths.add(typeFile(type, format));
      }
      if (hasOwnFiles(type)) for (const path of await resourceFiles(directory, type)) paths.add(path);
    }
  } catch (error) {
    if (error instanceof XdskitError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw XdskitError.of(
      "XDSKIT_TO_FILES",
      `the folder cannot be written: ${code ?? message}`,
      { file: directory },
      { cause: error },
    );
  }
  return {
    has: (path) => paths.has(path),
    paths,
    async write(path, content) {
      await replaceFile(join(directory, path), content, filesMode);
      paths.add(path);
    },
    async remove(path) {
      await rm(join(directory, path), { force: true });
      paths.delete(path);
    },
    read: (path) => (paths.has(path) ? readFile(join(directory, path)) : Promise.resolve(undefined)),
  };
}

async function resourceFiles(directory: string, type: ResourceType): Promise<readonly string[]> {
  try {
    const names = await readdir(join(directory, type.name));
    return names.filter((name) => /^[^.].*\.(?:json|pb)$/.test(name)).map((name) => `${type.name}/${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
