import { writeFileSync } from "node:fs";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** `opening.PID` while a process opens the file, and then `open.PID`. */
const mark = /^(opening|open)\.(\d+)$/;
/** Exists if a process found that a part cannot be read. */
const damagedName = "damaged";

/** What earlier and other processes say of the file. */
export interface MarksFound {
  /** A process died while it opened the file, or could not read a part of it. The file may be the reason. */
  readonly isSuspect: boolean;
  /** The other processes that have it open. */
  readonly users: readonly number[];
}

/** The folders that this process has open, and how often. */
const openHere = new Map<string, number>();

/**
 * Says which processes have the file of a folder open. A process that died leaves its mark: if it was just opening the
 * file, the next one must check the file before LMDB reads it. A live process that is just opening it says nothing
 * about the file.
 */
export class OpenMarks {
  readonly #directory: string;
  #isOpen = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async look(): Promise<MarksFound> {
    const names = await readdir(this.#directory);
    const marks = names.map((name) => mark.exec(name)).filter((found) => found !== null);
    const lives = (pid: string) => isLive(Number(pid), this.#directory);
    return {
      isSuspect: names.includes(damagedName) || marks.some(([, state, pid = ""]) => state === "opening" && !lives(pid)),
      users: marks.filter(([, state, pid = ""]) => state === "open" && lives(pid)).map(([, , pid]) => Number(pid)),
    };
  }

  /** Removes what made the file suspect, and the marks of processes that are gone: somebody checked it. */
  async clear(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      const pid = mark.exec(name)?.[2];
      if (name === damagedName || (pid !== undefined && !isLive(Number(pid), this.#directory)))
        await rm(join(this.#directory, name), { force: true });
    }
  }

  /** Has the next process that opens the file check it. */
  suspect(): void {
    try {
      writeFileSync(join(this.#directory, damagedName), "", { mode: 0o600 });
    } catch {
      // Reading it fails there, too.
    }
  }

  async opening(): Promise<void> {
    await writeFile(this.#own("opening"), "", { mode: 0o600 });
  }

  async open(): Promise<void> {
    await rename(this.#own("opening"), this.#own("open"));
    this.#isOpen = true;
    openHere.set(this.#directory, (openHere.get(this.#directory) ?? 0) + 1);
  }

  /** It was not opened, and this process goes on. */
  async notOpened(): Promise<void> {
    // There is none where nothing can be written.
    await rm(this.#own("opening"), { force: true }).catch(() => {});
  }

  async closed(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const left = (openHere.get(this.#directory) ?? 1) - 1;
    if (left > 0) openHere.set(this.#directory, left);
    else {
      openHere.delete(this.#directory);
      // The folder may be gone, and a mark of a process that ended means nothing.
      await rm(this.#own("open"), { force: true }).catch(() => {});
    }
  }

  #own(state: "opening" | "open"): string {
    return join(this.#directory, `${state}.${process.pid}`);
  }
}

function isLive(pid: number, directory: string): boolean {
  // An earlier process may have had the number of this one, as in a container.
  if (pid === process.pid) return openHere.has(directory);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
