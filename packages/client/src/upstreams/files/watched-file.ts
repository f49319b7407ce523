import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Clock } from "@xdskit/api";
import {
  contentIdentity,
  errnoOf,
  errnoText,
  followPath,
  inodeOf,
  linksUnchanged,
  lookMs,
  problemText,
  readWholeFile,
} from "@xdskit/api/disk";
import { PathWatch } from "./path-watch.js";

/** The result of a look at a file. */
export type FileLook =
  /** `isNew`: the bytes differ from those before. */
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly isNew: boolean }
  /** It does not exist, or cannot be read. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** The operating system does not report changes: the file is checked every few seconds. */
  | { readonly kind: "unwatched"; readonly reason: string };

export interface WatchedFileOptions {
  readonly path: string;
  readonly watchedDirectory: string | undefined;
  readonly maxBytes: number;
  readonly clock: Clock;
  /**
   * Called for the first look, and for each one after another file was moved over the file. The next look waits until
   * the promise settles; it never rejects. False: the content cannot be used, and writing to the file in place may fix
   * it.
   */
  readonly onLook: (look: FileLook) => Promise<boolean>;
}

/** Events come in bursts, and one rename causes several. */
const quietMs = 20;
/** The time for which a file that seems to be written in place must not change before it is read. */
const writtenMs = 200;
/** The time for which a file may be missing between deletion and creation. */
const missingMs = 300;

/**
 * One file that is read again when another file is moved over it, or over a symbolic link that leads to it (rule 153).
 */
export class WatchedFile {
  readonly #options: WatchedFileOptions;
  readonly #path: string;
  readonly #watch: PathWatch;
  /** The last content is good. */
  #useful = false;
  #way = "";
  #identity = "";
  #digest: string | undefined;
  #reason: string | undefined;
  #refused: string | undefined;
  #missingSince: number | undefined;
  #moved = true;
  #sleep: { readonly stop: () => void; readonly wake: () => void; readonly isShort: boolean } | undefined;
  #closed = false;
  readonly #running: Promise<void>;

  constructor(options: WatchedFileOptions) {
    this.#options = options;
    this.#path = resolve(options.path);
    const { watchedDirectory } = options;
    this.#watch = new PathWatch(watchedDirectory === undefined ? undefined : resolve(watchedDirectory), (event) => {
      // A file in use is not read while it is written to: half of it may look complete.
      if (event === "written" && this.#useful) return;
      this.#moved = true;
      if (this.#sleep?.isShort === false) this.#sleepFor(quietMs, this.#sleep.wake);
    });
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch.close();
    this.#sleep?.stop();
    this.#sleep?.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const before = this.#moved;
      this.#moved = false;
      const retryMs = await this.#look(before);
      if (this.#closed) return;
      const happened = this.#moved;
      if (retryMs !== undefined) this.#moved = true;
      await new Promise<void>((wake) => this.#sleepFor(retryMs ?? (happened ? quietMs : lookMs), wake));
      this.#sleep = undefined;
    }
  }

  #sleepFor(milliseconds: number, wake: () => void): void {
    this.#sleep?.stop();
    const stop = this.#options.clock.after(milliseconds, wake);
    this.#sleep = { stop, wake, isShort: milliseconds < lookMs };
  }

  /** Resolves with the time of the next look if this one cannot be trusted; undefined if it can. Never rejects. */
  async #look(moved: boolean): Promise<number | undefined> {
    const followed = await followPath(this.#path);
    if (this.#closed) return undefined;
    // Until there is usable content, the watched folder is not enough: the file may appear at its place.
    const follows = this.#options.watchedDirectory === undefined || !this.#useful;
    // The folder may have changed before it was watched.
    if (this.#watch.watch(follows ? followed.turns : [])) return 0;
    await this.#tellRefusal();
    if (followed.realPath === undefined) return this.#missing(problemText(followed), moved);
    const stats = await stat(followed.realPath, { bigint: true }).catch((error: unknown) => errnoOf(error));
    if (typeof stats === "string") return this.#missing(errnoText(stats), moved);
    const way = [...followed.links.map(({ identity }) => identity), inodeOf(stats), stats.birthtimeNs].join();
    const identity = `${way},${contentIdentity(stats)}`;
    const looksDifferent = this.#useful ? follows && way !== this.#way : identity !== this.#identity;
    if (!moved && !looksDifferent && this.#reason === undefined) return undefined;
    // A rename changes only the metadata time of a file. If both times are equal, the file was not moved since it was
    // written, and may be incomplete.
    const quietFor = Date.now() - Number(stats.mtimeMs);
    if (stats.ctimeNs === stats.mtimeNs && quietFor >= 0 && quietFor < writtenMs) return writtenMs - quietFor;

    const read = await readWholeFile(followed.realPath, this.#options.maxBytes);
    if (this.#closed) return undefined;
    if (read.kind === "moved" || !(await linksUnchanged(followed.links))) return quietMs;
    if (read.kind === "refused") return this.#unreadable(read.reason);
    const digest = createHash("sha256").update(read.bytes).digest("base64");
    const isNew = digest !== this.#digest;
    this.#way = way;
    this.#identity = identity;
    this.#digest = digest;
    this.#reason = undefined;
    this.#missingSince = undefined;
    if (!this.#closed) this.#useful = await this.#options.onLook({ kind: "read", bytes: read.bytes, isNew });
    // From now on only the watched folder counts.
    const isAlone = this.#useful && this.#options.watchedDirectory !== undefined;
    return isAlone && this.#watch.watch([]) ? 0 : undefined;
  }

  async #tellRefusal(): Promise<void> {
    const { refused } = this.#watch;
    const before = this.#refused;
    this.#refused = refused;
    if (refused !== undefined && refused !== before) await this.#options.onLook({ kind: "unwatched", reason: refused });
  }

  async #missing(reason: string, moved: boolean): Promise<number | undefined> {
    const now = this.#options.clock.now();
    this.#missingSince ??= now;
    const left = this.#missingSince + missingMs - now;
    if (this.#useful && left > 0) return Math.min(left, missingMs);
    // The file in its place is new, even with the same content.
    this.#way = "";
    this.#identity = "";
    this.#moved ||= moved && this.#useful;
    return this.#unreadable(reason);
  }

  async #unreadable(reason: string): Promise<undefined> {
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#digest = undefined;
    await this.#options.onLook({ kind: "unreadable", reason });
  }
}
