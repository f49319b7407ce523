import { type FSWatcher, watch } from "node:fs";
import { basename, extname, join } from "node:path";
import { errnoOf, isAbsence, type Turn } from "@xdskit/api/disk";
import { Changes } from "./changes.js";
import { resourceFileExtensions } from "./folder-options.js";

interface Watched {
  readonly watcher: FSWatcher;
  /** Which folder it is that is watched, for another one may have taken its path; undefined where only names in it matter. */
  readonly inode: string | undefined;
  /** What the scan before wanted, until this one is over: what it has yet to come to must not be missed meanwhile. */
  before: Wanted;
  now: Wanted;
  /** The last scan that wanted it. */
  round: number;
}

/** What matters in a folder. */
interface Wanted {
  /** It is read: all that can be a resource file, a folder or a link. */
  isRead: boolean;
  /** What leads elsewhere, or may: whatever it is called. */
  readonly names: Set<string>;
}

const nothing: Wanted = { isRead: false, names: new Set() };

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
  /** Files of resources that were written in place, and when last: a rename to or from such a path ends that. */
  readonly #written = new Map<string, number>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Why the operating system refused to watch a folder in the last scan; undefined: it did not. */
  get refused(): string | undefined {
    return this.#refused;
  }

  /** When a file of resources was written in place last, if that was after `since`; both on the clock of `performance.now()`. A rename is no such write. */
  writtenAfter(since: number): number | undefined {
    let last: number | undefined;
    for (const [path, at] of this.#written) {
      if (at <= since) this.#written.delete(path);
      else last = Math.max(at, last ?? at);
    }
    return last;
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
    const there = this.#watched.get(directory);
    // What happened to names in it may not have been heard of yet.
    if (there !== undefined && there.inode !== inode) this.#lose(directory);
    const watched = this.#want(directory, inode);
    if (watched !== undefined) watched.now.isRead = true;
    return watched?.before.isRead === true;
  }

  /** A name whose replacement matters, such as a symbolic link's. True: it is watched since before this scan, or cannot be. */
  watchTurn({ directory, name }: Turn): boolean {
    const watched = this.#want(directory, undefined);
    if (watched === undefined) return true;
    const known = watched.before.names.has(name) || watched.now.names.has(name);
    watched.now.names.add(name);
    return known;
  }

  /** To be called after a scan: lets go of what it did not want. */
  end(): void {
    for (const [directory, watched] of this.#watched) {
      if (watched.round !== this.#round) this.#drop(directory);
      watched.before = nothing;
    }
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
      watched = { watcher, inode, before: nothing, now: { isRead: false, names: new Set() }, round: this.#round };
      this.#watched.set(directory, watched);
    } else if (watched.round !== this.#round) {
      watched.round = this.#round;
      watched.before = watched.now;
      watched.now = { isRead: false, names: new Set() };
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
    const path = join(directory, name);
    if (event === "rename") this.#written.delete(path);
    // A folder that is deleted or moved takes its watch along: the next scan watches whatever has its path then.
    if (event === "rename") this.#lose(path);
    if (name === basename(directory)) this.#lose(directory);
    else if (matters(watched, event, name)) {
      if (event === "change") this.#written.set(path, performance.now());
      this.#note(directory, name);
    }
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
function matters({ before, now }: Watched, event: string, name: string): boolean {
  if (before.names.has(name) || now.names.has(name)) return true;
  if (!before.isRead && !now.isRead) return false;
  if (resourceFileExtensions.has(extname(name).toLowerCase())) return !name.startsWith(".");
  // Any other name may be a folder or a link (`..data` too) that comes or goes.
  return event === "rename";
}
