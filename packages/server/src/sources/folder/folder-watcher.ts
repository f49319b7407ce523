import { type FSWatcher, watch } from "node:fs";
import { basename, extname, join } from "node:path";
import { errnoOf, isAbsence, type Turn } from "@xdskit/api/disk";
import { Changes } from "./changes.js";
import { resourceFileExtensions } from "./folder-options.js";

interface Watched {
  readonly watcher: FSWatcher;
  /** Which folder it is that is watched, for another one may have taken its path; undefined where only names in it matter. */
  readonly inode: string | undefined;
  /** All names of a folder that is read; some names of one that a symbolic link stands in. */
  names: Set<string> | "all";
  /** The last scan that wanted it. */
  round: number;
}

/**
 * Watches folders, each by itself and never its files: one watch a folder is all that renames, writes, new files and swapped
 * links need. Every scan says anew what it wants watched; what it does not name again is let go.
 */
export class FolderWatcher {
  readonly #watched = new Map<string, Watched>();
  readonly #onChange: () => void;
  #changes = new Changes();
  #round = 0;
  #refused: string | undefined;
  #closed = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Why the operating system refused to watch a folder in the last scan; undefined: it did not. */
  get refused(): string | undefined {
    return this.#refused;
  }

  get pending(): boolean {
    return this.#changes.any;
  }

  /** What happened since the last call. */
  takeChanges(): Changes {
    const changes = this.#changes;
    this.#changes = new Changes();
    return changes;
  }

  /** To be called before a scan. */
  begin(): void {
    this.#round += 1;
    this.#refused = undefined;
  }

  /**
   * A folder that is about to be read: everything in it matters. True: it was watched all the time since the last scan, so that
   * what happened in it is known.
   */
  watchFolder(directory: string, inode: string): boolean {
    const before = this.#watched.get(directory);
    const known = before !== undefined && before.inode === inode && before.names === "all";
    if (before !== undefined && before.inode !== inode) this.#drop(directory);
    const watched = this.#want(directory, inode);
    if (watched !== undefined) watched.names = "all";
    return known;
  }

  /** A name whose replacement matters, such as a symbolic link's. */
  watchTurn({ directory, name }: Turn): void {
    const watched = this.#want(directory, undefined);
    if (watched !== undefined && watched.names !== "all") watched.names.add(name);
  }

  /** To be called after a scan: lets go of what it did not want. */
  end(): void {
    for (const [directory, { round }] of this.#watched) if (round !== this.#round) this.#drop(directory);
  }

  close(): void {
    this.#closed = true;
    for (const directory of [...this.#watched.keys()]) this.#drop(directory);
  }

  #want(directory: string, inode: string | undefined): Watched | undefined {
    if (this.#closed) return undefined;
    let watched = this.#watched.get(directory);
    if (watched === undefined) {
      const watcher = this.#open(directory);
      if (watcher === undefined) return undefined;
      watched = { watcher, inode, names: new Set(), round: this.#round };
      this.#watched.set(directory, watched);
    } else if (watched.round !== this.#round) {
      watched.round = this.#round;
      watched.names = new Set();
    }
    return watched;
  }

  #open(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, { persistent: true }, (event, name) => this.#happened(directory, event, name));
      watcher.on("error", () => {
        if (this.#watched.get(directory)?.watcher === watcher) this.#lose(directory);
      });
      return watcher;
    } catch (error) {
      const code = errnoOf(error);
      // A folder that is gone is for the scan to find; anything else is the operating system's refusal.
      if (!isAbsence(code)) this.#refused = `${directory}: ${code}`;
      return undefined;
    }
  }

  #drop(directory: string): void {
    const watched = this.#watched.get(directory);
    if (watched === undefined) return;
    this.#watched.delete(directory);
    watched.watcher.close();
  }

  #happened(directory: string, event: string, name: string | null): void {
    const watched = this.#watched.get(directory);
    if (watched === undefined || this.#closed) return;
    if (name === null) {
      this.#note(directory, undefined);
      return;
    }
    // A folder that is deleted or moved takes its watch along: the next scan watches whatever has its path then.
    if (event === "rename") this.#lose(join(directory, name));
    if (name === basename(directory)) this.#lose(directory);
    else if (matters(watched.names, event, name)) this.#note(directory, name);
  }

  #lose(directory: string): void {
    if (!this.#watched.has(directory)) return;
    this.#drop(directory);
    this.#note(directory, undefined);
  }

  #note(directory: string, name: string | undefined): void {
    this.#changes.add(directory, name);
    this.#onChange();
  }
}

/** Whether an event can mean anything for the resources; so that a log file written in the folder does not keep it from settling. */
function matters(names: Set<string> | "all", event: string, name: string): boolean {
  if (names !== "all") return names.has(name);
  if (resourceFileExtensions.has(extname(name).toLowerCase())) return !name.startsWith(".");
  // Any other name may be a folder or a link (`..data` too) that comes or goes.
  return event === "rename";
}
