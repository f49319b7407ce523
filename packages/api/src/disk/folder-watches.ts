import { type FSWatcher, watch } from "node:fs";
import { errnoOf, isAbsence } from "./metadata.js";

/** Receives the events of watched folders. */
export interface FolderListener {
  /**
   * A name in the folder came, went or stands for another file (`rename`), or its file was written to (`change`), as
   * `fs.watch` reports it. A null name: the system does not say which one.
   */
  happened(directory: string, event: string, name: string | null): void;
  /** The folder is no longer watched, because it was deleted or its watch failed: anything may have happened in it. */
  lost(directory: string): void;
}

interface WatchedFolder<State> {
  readonly watcher: FSWatcher;
  readonly state: State;
  /** The last round that wanted it. */
  round: number;
}

/**
 * Watches folders, each by itself, and never files: one watch for each folder covers renames, writes, new files and
 * swapped links. Each round says anew which folders it wants (`begin`, `want` …, `end`); the others are released.
 * For each folder the caller keeps a state.
 */
export class FolderWatches<State> {
  readonly #listener: FolderListener;
  readonly #renew: (state: State) => void;
  readonly #folders = new Map<string, WatchedFolder<State>>();
  #round = 0;
  #refused: string | undefined;
  #closed = false;

  /** @param renew called with a folder's state when a later round wants the folder for the first time */
  constructor(listener: FolderListener, renew: (state: State) => void) {
    this.#listener = listener;
    this.#renew = renew;
  }

  /** Why the operating system refused to watch a folder in the last round; undefined if it did not. */
  get refused(): string | undefined {
    return this.#refused;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The state of a folder that is watched. */
  get(directory: string): State | undefined {
    return this.#folders.get(directory)?.state;
  }

  begin(): void {
    this.#round += 1;
    this.#refused = undefined;
  }

  /** Watches a folder from now on. Undefined if it does not exist or cannot be watched, or if all is closed. */
  want(directory: string, make: () => State): State | undefined {
    if (this.#closed) return undefined;
    const known = this.#folders.get(directory);
    if (known !== undefined) {
      if (known.round !== this.#round) this.#renew(known.state);
      known.round = this.#round;
      return known.state;
    }
    const watcher = this.#open(directory);
    if (watcher === undefined) return undefined;
    const state = make();
    this.#folders.set(directory, { watcher, state, round: this.#round });
    return state;
  }

  /** Releases the folders that this round did not want. */
  end(): void {
    for (const [directory, { round }] of this.#folders) if (round !== this.#round) this.#drop(directory);
  }

  /** Releases a folder whose watch is of no more use, and tells the listener. */
  lose(directory: string): void {
    if (!this.#folders.has(directory)) return;
    this.#drop(directory);
    this.#listener.lost(directory);
  }

  *[Symbol.iterator](): Generator<State> {
    for (const { state } of this.#folders.values()) yield state;
  }

  close(): void {
    this.#closed = true;
    for (const directory of [...this.#folders.keys()]) this.#drop(directory);
  }

  #open(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, (event, name) => {
        if (this.#folders.has(directory)) this.#listener.happened(directory, event, name);
      });
      watcher.on("error", () => {
        if (this.#folders.get(directory)?.watcher === watcher) this.lose(directory);
      });
      return watcher;
    } catch (error) {
      const code = errnoOf(error);
      // A folder that is gone is for the caller to find; anything else is a refusal of the operating system.
      if (!isAbsence(code)) this.#refused = `${directory}: ${code}`;
      return undefined;
    }
  }

  #drop(directory: string): void {
    this.#folders.get(directory)?.watcher.close();
    this.#folders.delete(directory);
  }
}
