import { type FSWatcher, watch } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { errnoOf, isAbsence, type Turn } from "@xdskit/api/disk";

/** What happened to what is watched: something else has a name that matters (`moved`), or a file was written to where it lies (`written`). */
export type PathEvent = "moved" | "written";

interface WatchedFolder {
  readonly watcher: FSWatcher;
  names: Set<string>;
  /** The last round that wanted it. */
  round: number;
}

/**
 * Watches the places where a path can come to lead elsewhere: folders, by the names in them that matter, and never files. In one folder (`watchedDirectory`)
 * whatever is moved into it counts, as Envoy has it.
 */
export class PathWatch {
  readonly #watchedDirectory: string | undefined;
  readonly #onEvent: (event: PathEvent) => void;
  readonly #folders = new Map<string, WatchedFolder>();
  #round = 0;
  #refused: string | undefined;
  #closed = false;

  constructor(watchedDirectory: string | undefined, onEvent: (event: PathEvent) => void) {
    this.#watchedDirectory = watchedDirectory;
    this.#onEvent = onEvent;
  }

  /** Why the operating system refuses to watch a folder; undefined: it does not. */
  get refused(): string | undefined {
    return this.#refused;
  }

  /** Watches these names from now on, and nothing else but `watchedDirectory`. True if a folder is watched that was not before: something may have happened in it unseen. */
  watch(turns: readonly Turn[]): boolean {
    if (this.#closed) return false;
    this.#round += 1;
    this.#refused = undefined;
    let isNew = false;
    if (this.#watchedDirectory !== undefined) isNew = this.#want(this.#watchedDirectory, undefined);
    for (const { directory, name } of turns) isNew = this.#want(directory, name) || isNew;
    for (const [directory, { round }] of this.#folders) if (round !== this.#round) this.#drop(directory);
    return isNew;
  }

  close(): void {
    this.#closed = true;
    for (const directory of [...this.#folders.keys()]) this.#drop(directory);
  }

  #want(directory: string, name: string | undefined): boolean {
    let folder = this.#folders.get(directory);
    const isNew = folder === undefined;
    if (folder === undefined) {
      const watcher = this.#open(directory);
      if (watcher === undefined) return false;
      folder = { watcher, names: new Set(), round: this.#round };
      this.#folders.set(directory, folder);
    } else if (folder.round !== this.#round) {
      folder.round = this.#round;
      folder.names = new Set();
    }
    if (name !== undefined) folder.names.add(name);
    return isNew;
  }

  #open(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, (event, name) => this.#happened(directory, event, name));
      watcher.on("error", () => {
        if (this.#folders.get(directory)?.watcher === watcher) this.#lose(directory);
      });
      return watcher;
    } catch (error) {
      const code = errnoOf(error);
      if (!isAbsence(code)) this.#refused = `${directory}: ${code}`;
      return undefined;
    }
  }

  #drop(directory: string): void {
    const folder = this.#folders.get(directory);
    this.#folders.delete(directory);
    folder?.watcher.close();
  }

  #happened(directory: string, event: string, name: string | null): void {
    const folder = this.#folders.get(directory);
    if (folder === undefined || this.#closed) return;
    // A folder that is deleted or moved takes its watch along.
    if (name === null || (event === "rename" && name === basename(directory) && !folder.names.has(name))) {
      this.#lose(directory);
    } else if (folder.names.has(name)) {
      this.#onEvent(event === "rename" ? "moved" : "written");
    } else if (event === "rename" && directory === this.#watchedDirectory) {
      // What went away was not moved into it.
      lstat(join(directory, name)).then(
        () => !this.#closed && this.#onEvent("moved"),
        () => {},
      );
    }
  }

  #lose(directory: string): void {
    this.#drop(directory);
    this.#onEvent("moved");
  }
}
