import { basename, extname, join } from "node:path";
import { FolderWatches, type Turn } from "@xdskit/api/disk";
import { resourceFileExtensions } from "../folder-options.js";
import { ChangesOnDisk } from "./changes-on-disk.js";

interface WatchedDirectory {
  /** The watched folder itself, since another one may take its path; undefined if only names in it matter. */
  readonly inode: string | undefined;
  /**
   * The wants of the previous scan, kept until this one is over: no event in a part that it has yet to reach may be
   * missed.
   */
  before: WatchedParts;
  now: WatchedParts;
}

/** The events that matter in a folder. */
interface WatchedParts {
  /** It is read: every possible resource file, folder or link matters. */
  isRead: boolean;
  /** Names that lead elsewhere, or may, however they are spelled. */
  readonly names: Set<string>;
}

const nothing: WatchedParts = { isRead: false, names: new Set() };

/**
 * Watches the folders that scans read or pass through, and records their events. Each scan says anew which folders
 * these are.
 */
export class FolderWatcher {
  readonly #watches: FolderWatches<WatchedDirectory>;
  readonly #onChange: () => void;
  #changes = new ChangesOnDisk();
  /** Files of resources that were written in place, and when last: a rename to or from such a path ends that. */
  readonly #written = new Map<string, number>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    const listener = {
      happened: this.#happened.bind(this),
      lost: (directory: string) => this.#note(directory, undefined),
    };
    this.#watches = new FolderWatches(listener, (watched) => {
      watched.before = watched.now;
      watched.now = { isRead: false, names: new Set() };
    });
  }

  /** Why the operating system refused to watch a folder in the last scan; undefined if it did not. */
  get refused(): string | undefined {
    return this.#watches.refused;
  }

  /**
   * When a file of resources was last written in place, if that was after `since`; both on the clock of
   * `performance.now()`. A rename is no such write.
   */
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

  /** Returns the events since the last call. */
  takeChanges(): ChangesOnDisk {
    const changes = this.#changes;
    this.#changes = new ChangesOnDisk();
    return changes;
  }

  /** Runs a scan, which says what to watch. Releases the folders that it did not want. */
  async during<Result>(scan: () => Promise<Result>): Promise<Result> {
    this.#watches.begin();
    const result = await scan();
    this.#watches.end();
    for (const watched of this.#watches) watched.before = nothing;
    return result;
  }

  /**
   * Watches a folder that is about to be read: everything in it matters. True: it was watched all the time since the
   * last scan, so everything that happened in it is known.
   */
  watchFolder(directory: string, inode: string): boolean {
    const there = this.#watches.get(directory);
    // Events for names in it may not have arrived yet.
    if (there !== undefined && there.inode !== inode) this.#watches.lose(directory);
    const watched = this.#want(directory, inode);
    if (watched !== undefined) watched.now.isRead = true;
    return watched?.before.isRead === true;
  }

  /**
   * Watches a name whose replacement matters, such as a symbolic link's. True: it was watched before this scan, or
   * cannot be.
   */
  watchTurn({ directory, name }: Turn): boolean {
    const watched = this.#want(directory, undefined);
    if (watched === undefined) return true;
    const known = watched.before.names.has(name) || watched.now.names.has(name);
    watched.now.names.add(name);
    return known;
  }

  close(): void {
    this.#watches.close();
  }

  #want(directory: string, inode: string | undefined): WatchedDirectory | undefined {
    return this.#watches.want(directory, () => ({ inode, before: nothing, now: { isRead: false, names: new Set() } }));
  }

  #happened(directory: string, event: string, name: string | null): void {
    if (name === null) {
      this.#note(directory, undefined);
      return;
    }
    const path = join(directory, name);
    if (event === "rename") this.#written.delete(path);
    // A folder that is deleted or moved takes its watch along: the next scan watches the folder that has its path then.
    if (event === "rename") this.#watches.lose(path);
    const watched = this.#watches.get(directory);
    if (name === basename(directory)) this.#watches.lose(directory);
    else if (watched !== undefined && matters(watched, event, name)) {
      if (event === "change") this.#written.set(path, performance.now());
      this.#note(directory, name);
    }
  }

  #note(directory: string, name: string | undefined): void {
    this.#changes.add(directory, name);
    this.#onChange();
  }
}

/** Whether an event can affect resources, so that a log file written in the folder does not keep it from settling. */
function matters({ before, now }: WatchedDirectory, event: string, name: string): boolean {
  if (before.names.has(name) || now.names.has(name)) return true;
  if (!before.isRead && !now.isRead) return false;
  if (resourceFileExtensions.has(extname(name).toLowerCase())) return !name.startsWith(".");
  // Any other name may be a folder or a link (`..data` too) that comes or goes.
  return event === "rename";
}
