import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { FolderWatches, type Turn } from "@xdskit/api/disk";

/** `moved`: a name that matters stands for something else now. `written`: a file was written in place. */
export type PathEvent = "moved" | "written";

/** The names that matter in a watched folder. */
interface WatchedNames {
  names: Set<string>;
}

/**
 * Watches the folders in which a path can change its target, by the names in them that matter. In one folder
 * (`watchedDirectory`) everything that is moved into it counts, as it does for Envoy.
 */
export class PathWatch {
  readonly #watchedDirectory: string | undefined;
  readonly #onEvent: (event: PathEvent) => void;
  readonly #watches: FolderWatches<WatchedNames>;

  constructor(watchedDirectory: string | undefined, onEvent: (event: PathEvent) => void) {
    this.#watchedDirectory = watchedDirectory;
    this.#onEvent = onEvent;
    const listener = { happened: this.#happened.bind(this), lost: () => onEvent("moved") };
    this.#watches = new FolderWatches(listener, (folder) => {
      folder.names = new Set();
    });
  }

  /** Why the operating system refuses to watch a folder; undefined if it does not. */
  get refused(): string | undefined {
    return this.#watches.refused;
  }

  /**
   * Watches these names from now on, and nothing else but `watchedDirectory`. True if it began to watch a folder, in
   * which something may have happened unseen.
   */
  watch(turns: readonly Turn[]): boolean {
    if (this.#watches.closed) return false;
    this.#watches.begin();
    let isNew = false;
    if (this.#watchedDirectory !== undefined) isNew = this.#want(this.#watchedDirectory, undefined);
    for (const { directory, name } of turns) isNew = this.#want(directory, name) || isNew;
    this.#watches.end();
    return isNew;
  }

  close(): void {
    this.#watches.close();
  }

  #want(directory: string, name: string | undefined): boolean {
    const isNew = this.#watches.get(directory) === undefined;
    const folder = this.#watches.want(directory, () => ({ names: new Set() }));
    if (name !== undefined) folder?.names.add(name);
    return isNew && folder !== undefined;
  }

  #happened(directory: string, event: string, name: string | null): void {
    const isWatched = name !== null && this.#watches.get(directory)?.names.has(name) === true;
    // A folder that is deleted or moved takes its watch along.
    if (name === null || (event === "rename" && name === basename(directory) && !isWatched)) {
      this.#watches.lose(directory);
    } else if (isWatched) {
      this.#onEvent(event === "rename" ? "moved" : "written");
    } else if (event === "rename" && directory === this.#watchedDirectory) {
      // A name that went away was not moved into the folder.
      lstat(join(directory, name)).then(
        () => !this.#watches.closed && this.#onEvent("moved"),
        () => {},
      );
    }
  }
}
