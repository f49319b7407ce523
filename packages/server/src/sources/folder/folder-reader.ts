import { stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { inodeOf, linksUnchanged } from "@xdskit/api/disk";
import type { CountedFiles, FolderContents, FolderReading } from "./folder-contents.js";
import { sameFindings } from "./folder-findings.js";
import type { FullFolderOptions } from "./full-folder-options.js";
import { ChangesOnDisk } from "./scanning/changes-on-disk.js";
import type { FolderWatcher } from "./scanning/folder-watcher.js";
import { type Scan, scanFolder } from "./scanning/scan.js";

/** The longest wait for files that are written in place, in multiples of `writeSettleMs`, from the first change on. */
const maxWriteSettles = 20;

/** The number of times that a folder which moves while it is read is read again before that is reported. */
const attempts = 10;

const nothingRead: FolderReading = { isChanged: false, moved: false };

/** The result of reading until the folder was still. */
export interface Round extends CountedFiles {
  readonly scan: Scan;
  /** False: the folder moved each time, so the readings may belong to two states. */
  readonly whole: boolean;
}

/** Brings the known state of a folder up to date, with as little reading as possible. */
export class FolderReader {
  readonly #options: FullFolderOptions;
  readonly #signal: AbortSignal;
  readonly #contents: FolderContents;
  readonly #watcher: FolderWatcher;
  #scan: Scan | undefined;
  /** The known changes since the last scan. */
  #unseen = new ChangesOnDisk(true);
  /** Whether the last reading is one state. */
  #whole = false;
  /** Whether everything was read once: until then no client is served. */
  #begun = false;

  /** `signal` ends all waiting. */
  constructor(options: FullFolderOptions, signal: AbortSignal, contents: FolderContents, watcher: FolderWatcher) {
    this.#options = options;
    this.#signal = signal;
    this.#contents = contents;
    this.#watcher = watcher;
  }

  /** From now on nothing is trusted without a look at the metadata. */
  distrust(): void {
    this.#unseen.addEverything();
  }

  /**
   * Looks at the metadata of everything, and returns whether the folder differs from the state that was read. That
   * state stays.
   */
  async differs(): Promise<boolean> {
    const before = this.#scan;
    const scan = await scanFolder(this.#options, this.#watcher, new ChangesOnDisk(true), before);
    if (before === undefined || scan.root !== before.root || scan.moved) return true;
    if (scan.missing.length !== before.missing.length || !sameFindings(scan.findings, before.findings)) return true;
    return scan.root !== undefined && this.#contents.differs(scan);
  }

  /** Milliseconds until files may be read, if one of them was just written in place and may be incomplete. */
  #waitForWrites(since: number): number {
    const { writeSettleMs } = this.#options;
    const now = performance.now();
    const writtenAt = this.#watcher.writtenAfter(now - writeSettleMs);
    if (writtenAt === undefined) return 0;
    return Math.max(0, Math.min(writtenAt + writeSettleMs, since + writeSettleMs * maxWriteSettles) - now);
  }

  async #writesSettled(since: number): Promise<void> {
    const signal = this.#signal;
    for (;;) {
      const waitMs = this.#waitForWrites(since);
      if (waitMs === 0 || signal.aborted) return;
      await delay(Math.ceil(waitMs), undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Reads changes until the folder is still: no symbolic link was swapped, no file was written meanwhile, and no new
   * event arrived. After `maxSettleMs` from `since` (on the clock of `performance.now()`) new events no longer count.
   * If links say which files belong together, a late reading has looked at every file: if a file was overwritten while
   * no link led to it, the scan through the link may be ahead of the watcher.
   *
   * @param waits whether to wait for long files as well: nothing is served yet
   */
  async read(since: number, waits: boolean): Promise<Round> {
    const { settleMs, maxSettleMs } = this.#options;
    const signal = this.#signal;
    let isChanged = false;
    for (let attempt = 1; ; attempt += 1) {
      await this.#writesSettled(since);
      this.#unseen.merge(this.#watcher.takeChanges());
      const changes = this.#unseen;
      this.#unseen = new ChangesOnDisk();
      const scan = await scanFolder(this.#options, this.#watcher, changes, this.#scan);
      const isLate = () => performance.now() - since >= maxSettleMs && this.#waitForWrites(since) === 0;
      const lastTry = attempt >= attempts && isLate();
      // The readings of a missing directory are kept: it may come back unchanged.
      const reading =
        scan.root === undefined ? nothingRead : await this.#contents.update(scan, !lastTry, signal, !this.#begun);
      this.#scan = scan;
      isChanged ||= reading.isChanged;
      const unmoved = !scan.moved && !reading.moved && ((this.#whole && !isChanged) || (await isStill(scan)));
      const quiet = !this.#watcher.pending;
      const whole = unmoved && (quiet || changes.everything || scan.links.length === 0);
      this.#whole = whole;
      if (!whole) this.distrust();
      const done = whole && (quiet || isLate());
      if (done || lastTry || signal.aborted) {
        this.#begun = true;
        return { scan, whole, ...(await this.#contents.endRound(scan, waits)) };
      }
      await delay(unmoved ? settleMs : Math.min(settleMs, 5 * attempt), undefined, { signal }).catch(() => {});
    }
  }
}

/** Whether a scan's paths still lead to the same places: if not, the readings may belong to two states. */
async function isStill(scan: Scan): Promise<boolean> {
  if (!(await linksUnchanged(scan.links))) return false;
  if (scan.root === undefined) return true;
  const root = await stat(scan.root, { bigint: true }).catch(() => undefined);
  return root !== undefined && inodeOf(root) === scan.rootInode;
}
