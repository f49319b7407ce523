import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  errnoOf,
  errnoText,
  followPath,
  identityOf,
  inodeOf,
  linksUnchanged,
  problemText,
  readWholeFile,
} from "@xdskit/api/disk";
import type { Clock } from "../../clock.js";
import { PathWatch } from "./path-watch.js";

/** What a look at a file found. */
export type FileLook =
  /** `isNew`: other bytes than those before. */
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly isNew: boolean }
  /** It is not there, or cannot be read. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** The operating system does not tell what happens to it: it is looked at every few seconds. */
  | { readonly kind: "unwatched"; readonly reason: string };

export interface WatchedFileOptions {
  readonly path: string;
  readonly watchedDirectory: string | undefined;
  readonly maxBytes: number;
  readonly clock: Clock;
  /**
   * Told of the first look, and of each one after something was moved over the file; the next one waits until the promise settles, which never rejects. False: what
   * was read is of no use, and writing to the file where it lies may mend it.
   */
  readonly onLook: (look: FileLook) => Promise<boolean>;
}

/** Events come in numbers, and of one rename come several. */
const quietMs = 20;
/** How long a file that seems to be written where it lies must be left alone before it is read. */
const writtenMs = 200;
/** How long a file may be missing between being deleted and coming again. */
const missingMs = 300;
/** What the operating system does not tell (network file systems, watches used up) is found by looking. */
const lookMs = 2_000;

/** One file that is read again when something is moved over it, or over a symbolic link that leads to it (rule 153). */
export class WatchedFile {
  readonly #options: WatchedFileOptions;
  readonly #path: string;
  readonly #watch: PathWatch;
  /** What was read last is good. */
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
      // A file that is of use is left alone while it is written to: half of it may look like a whole one.
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

  /** Resolves with when to look again because what was seen cannot be relied on; undefined: it can. Never rejects. */
  async #look(moved: boolean): Promise<number | undefined> {
    const followed = await followPath(this.#path);
    if (this.#closed) return undefined;
    // Until there is something of use, a watched folder is not all that is waited for: the file may come where it is to be.
    const follows = this.#options.watchedDirectory === undefined || !this.#useful;
    // What happened before a folder was watched is not known.
    if (this.#watch.watch(follows ? followed.turns : [])) return 0;
    await this.#tellRefusal();
    if (followed.realPath === undefined) return this.#missing(problemText(followed), moved);
    const stats = await stat(followed.realPath, { bigint: true }).catch((error: unknown) => errnoOf(error));
    if (typeof stats === "string") return this.#missing(errnoText(stats), moved);
    const way = [...followed.links.map(({ identity }) => identity), inodeOf(stats), stats.birthtimeNs].join();
    const identity = `${way},${identityOf(stats)}`;
    const looksDifferent = this.#useful ? follows && way !== this.#way : identity !== this.#identity;
    if (!moved && !looksDifferent && this.#reason === undefined) return undefined;
    // A rename changes the time of a file's metadata alone: one whose times are equal was not moved since it was written, and may be half of what it is to be.
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
    // From now on the watched folder is all that counts.
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
    // What comes in its place is new, even where it says the same.
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
