import { readFileSync, writeFileSync } from "node:fs";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** `opening.PID.STARTED` while a process opens the file, and then `open.PID.STARTED`. */
const marks = /^(opening|open)\.(\d+)\.([\w-]+)$/;
/** Exists if a process found that a part cannot be read. */
const damagedName = "damaged";

/** What earlier and other processes say of the file. */
export interface MarksFound {
  /** A process died while it opened the file, or could not read a part of it. The file may be the reason. */
  readonly isSuspect: boolean;
  /** The live processes that have it open, or are just opening it. */
  readonly users: readonly number[];
}

interface Mark {
  readonly name: string;
  readonly state: string;
  readonly pid: number;
  readonly isLive: boolean;
}

/** The folders that this process has open or is opening, and how often. */
const openHere = new Map<string, number>();

/**
 * Says which processes have the file of a folder open. A process that died leaves its mark: if it was just opening the
 * file, the next one must check the file before LMDB reads it. A live process that is just opening it says nothing
 * about the file.
 */
export class OpenMarks {
  readonly #directory: string;
  #isUsed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async look(): Promise<MarksFound> {
    const { names, marked } = await this.#read();
    const died = marked.some(({ state, isLive }) => state === "opening" && !isLive);
    const users = marked.filter(({ isLive }) => isLive).map(({ pid }) => pid);
    return { isSuspect: died || names.includes(damagedName), users };
  }

  /** Removes what made the file suspect, and the marks of processes that are gone: somebody checked it. */
  async clear(): Promise<void> {
    const { marked } = await this.#read();
    const gone = marked.filter(({ isLive }) => !isLive).map(({ name }) => name);
    for (const name of [damagedName, ...gone]) await rm(join(this.#directory, name), { force: true });
  }

  async #read(): Promise<{ readonly names: readonly string[]; readonly marked: readonly Mark[] }> {
    const names = await readdir(this.#directory);
    const marked = names.flatMap((name): readonly Mark[] => {
      const [, state = "", number, started] = marks.exec(name) ?? [];
      if (started === undefined) return [];
      const pid = Number(number);
      const isOwn = name.endsWith(`.${ownPlace}`);
      return [{ name, state, pid, isLive: isOwn ? openHere.has(this.#directory) : isRunning(pid, started) }];
    });
    return { names, marked };
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
    this.#isUsed = true;
    openHere.set(this.#directory, (openHere.get(this.#directory) ?? 0) + 1);
  }

  async open(): Promise<void> {
    await rename(this.#own("opening"), this.#own("open"));
  }

  /** It was not opened, and this process goes on. */
  async notOpened(): Promise<void> {
    // There is none where nothing can be written.
    await rm(this.#own("opening"), { force: true }).catch(() => {});
    await this.closed();
  }

  async closed(): Promise<void> {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    const left = (openHere.get(this.#directory) ?? 1) - 1;
    if (left > 0) openHere.set(this.#directory, left);
    else {
      openHere.delete(this.#directory);
      // The folder may be gone, and a mark of a process that ended means nothing.
      await rm(this.#own("open"), { force: true }).catch(() => {});
    }
  }

  #own(state: "opening" | "open"): string {
    return join(this.#directory, `${state}.${ownPlace}`);
  }
}

/** Whether the process is still the one that started then: the system gives a number again, also after a restart. */
function isRunning(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return startOf(pid) === started;
}

/** When a process started: the same only for the same process. `unknown` where the system has no such files. */
function startOf(pid: number): string {
  try {
    const [boot = ""] = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").split("-");
    // The name of the program, which may hold spaces, ends at the last bracket; the start is the 20th number after it.
    const [, numbers = ""] = /.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return `${boot}-${numbers.split(" ")[19]}`;
  } catch {
    return "unknown";
  }
}

const ownPlace = `${process.pid}.${startOf(process.pid)}`;
