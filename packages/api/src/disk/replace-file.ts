import { renameSync } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The permissions of written files. */
export interface FileMode {
  readonly file: number;
  readonly folder: number;
  /** Whether the file survives a power failure. Costs a wait for the disk. */
  readonly durable: boolean;
}

let drafts = 0;

/**
 * Replaces a file by a rename, so that nobody ever sees a part of it; makes its folder where it is missing. Rejects
 * with the system's error, and leaves the old file as it was.
 */
export async function replaceFile(path: string, content: string | Uint8Array, mode: FileMode): Promise<void> {
  await replaceFiles(new Map([[path, content]]), mode);
}

/** The same with several files, by path: they are replaced one after the other in one turn. */
export async function replaceFiles(files: ReadonlyMap<string, string | Uint8Array>, mode: FileMode): Promise<void> {
  const drafts = new Map<string, string>();
  try {
    for (const [path, content] of files) drafts.set(path, await draftOf(path, content, mode));
    for (const [path, draft] of drafts) renameSync(draft, path);
  } catch (error) {
    for (const draft of drafts.values()) await rm(draft, { force: true });
    throw error;
  }
}

/** Writes the content beside the file, and returns where. Leaves nothing if that fails. */
async function draftOf(path: string, content: string | Uint8Array, mode: FileMode): Promise<string> {
  const folder = dirname(path);
  drafts += 1;
  // Starts with a dot: readers of resource folders skip it.
  const draft = join(folder, `.${basename(path).slice(0, 100)}.${process.pid}.${drafts}.tmp`);
  await mkdir(folder, { recursive: true, mode: mode.folder });
  try {
    const file = await open(draft, "w", mode.file);
    try {
      await file.writeFile(content);
      if (mode.durable) await file.datasync();
    } finally {
      await file.close();
    }
    return draft;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
