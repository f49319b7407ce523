import { mkdir, open, rename, rm } from "node:fs/promises";
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
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
