import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Who may read what is written. */
export interface FileMode {
  readonly file: number;
  readonly folder: number;
  /** Whether it survives a power failure. Costs a wait for the disk. */
  readonly durable: boolean;
}

let drafts = 0;

/**
 * Puts a file in the place of another by a rename, so that nobody ever sees a part of it; its folder is made where it is missing. Rejects with the system's
 * error, and leaves the old file as it was.
 */
export async function replaceFile(path: string, content: string | Uint8Array, mode: FileMode): Promise<void> {
  const folder = dirname(path);
  drafts += 1;
  // Begins with a dot: what reads folders of resources passes over it.
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
