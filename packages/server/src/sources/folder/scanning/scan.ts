import type { BigIntStats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { type Finding, maxKept } from "@xdskit/api";
import {
  contentIdentity,
  errnoOf,
  errnoText,
  type FollowedLink,
  followPath,
  inodeOf,
  isAbsence,
  type LinkCache,
  problemText,
  type Turn,
} from "@xdskit/api/disk";
import type { FullFolderOptions } from "../full-folder-options.js";
import type { ChangesOnDisk } from "./changes-on-disk.js";
import type { FolderWatcher } from "./folder-watcher.js";
import { listFolder, pathBelow, type ScannedFile, type ScannedFolder, unreadable } from "./list-folder.js";
import { relistFolder } from "./relist-folder.js";

/** The files of a folder, without their bytes. */
export interface Scan extends Pick<ScannedFolder, "files" | "findings" | "moved"> {
  /** The directory without symbolic links; undefined if it does not exist. */
  readonly root: string | undefined;
  /** The inode of that folder. */
  readonly rootInode: string | undefined;
  readonly folders: ReadonlyMap<string, ScannedFolder>;
  /** Every followed symbolic link: while they stay, the scan is one state. */
  readonly links: readonly FollowedLink[];
  /** The directory (`.`) or folders of layers that do not exist, and why. */
  readonly missing: readonly MissingFolder[];
}

/** A folder that does not exist. */
export interface MissingFolder {
  readonly path: string;
  readonly reason: string;
  /** The folders beside it when it was first missing, one of which may be meant. */
  readonly beside: readonly string[];
}

/**
 * Looks at a folder's tree. Costs one `stat` for each folder and for each file that `changes` names; all files if
 * nothing is known. Never throws.
 */
export async function scanFolder(
  options: FullFolderOptions,
  watcher: FolderWatcher,
  changes: ChangesOnDisk,
  before: Scan | undefined,
): Promise<Scan> {
  const scanner = new Scanner(options, watcher, changes, before);
  return await watcher.during(() => scanner.run());
}

class Scanner {
  readonly #options: FullFolderOptions;
  readonly #watcher: FolderWatcher;
  readonly #changes: ChangesOnDisk;
  readonly #before: Scan | undefined;
  /** Each link is followed once in a scan, so all paths through it lead to the same state. */
  readonly #cache: LinkCache = new Map();
  readonly #files = new Map<string, ScannedFile>();
  readonly #folders = new Map<string, ScannedFolder>();
  readonly #links: FollowedLink[] = [];
  readonly #findings: Finding[] = [];
  readonly #missing: MissingFolder[] = [];
  #moved = false;
  #full = false;

  constructor(options: FullFolderOptions, watcher: FolderWatcher, changes: ChangesOnDisk, before: Scan | undefined) {
    this.#options = options;
    this.#watcher = watcher;
    this.#changes = changes;
    this.#before = before;
  }

  async run(): Promise<Scan> {
    const { absolute, directory, layers, limits } = this.#options;
    const root = await this.#watched(() => followPath(absolute, this.#cache));
    this.#links.push(...root.links);
    if (root.realPath === undefined) return this.#absent(problemText(root));
    let stats: BigIntStats;
    try {
      stats = await stat(root.realPath, { bigint: true });
    } catch (error) {
      return this.#absent(errnoText(errnoOf(error)));
    }
    if (!stats.isDirectory()) return this.#absent("it is not a folder");
    await this.#walk(".", root.realPath, []);
    for (const { path } of layers) {
      const known = this.#folders.has(path) || this.#findings.some(({ file }) => file === join(directory, path));
      if (!known) this.#missing.push({ path, reason: errnoText("ENOENT"), beside: await this.#foldersBeside(path) });
    }
    if (this.#full) this.#limit(".", `more than ${limits.files} files; those beyond were not looked at`);
    return this.#result(root.realPath, inodeOf(stats));
  }

  async #walk(path: string, realPath: string, above: readonly string[]): Promise<void> {
    const { limits, directory } = this.#options;
    if (this.#full) return;
    if (above.length > limits.depth) {
      this.#limit(path, `more than ${limits.depth} folders deep`);
      return;
    }
    const trail = [...above, realPath];
    let folder: ScannedFolder;
    try {
      folder = await this.#watched((isFirst) => this.#look(path, realPath, trail, isFirst));
    } catch (error) {
      const errno = errnoOf(error);
      // It existed a moment ago, so something is being moved.
      if (isAbsence(errno)) this.#moved = true;
      else this.#findings.push(unreadable(join(directory, path), errnoText(errno)));
      return;
    }
    this.#folders.set(path, folder);
    this.#links.push(...folder.links);
    this.#findings.push(...folder.findings);
    this.#moved ||= folder.moved;
    for (const file of folder.files.values()) {
      this.#full = this.#files.size >= limits.files;
      if (this.#full) return;
      this.#files.set(file.path, file);
    }
    for (const below of folder.folders) await this.#walk(pathBelow(path, below.name), below.realPath, trail);
  }

  /** Follows links, and once more if they were not watched while they were followed: earlier events were lost. */
  async #watched<Found extends { readonly turns: readonly Turn[] }>(
    follow: (isFirst: boolean) => Promise<Found>,
  ): Promise<Found> {
    for (let isFirst = true; ; isFirst = false) {
      const found = await follow(isFirst);
      let known = true;
      for (const turn of found.turns) if (!this.#watcher.watchTurn(turn)) known = false;
      if (known || !isFirst) return found;
      this.#cache.clear();
    }
  }

  /** One folder's own entries; the known ones if nothing happened. */
  async #look(path: string, realPath: string, trail: readonly string[], isFirst: boolean): Promise<ScannedFolder> {
    const changes = this.#changes;
    const before = this.#before?.folders.get(path);
    const stats = await stat(realPath, { bigint: true });
    const inode = inodeOf(stats);
    // It is watched before it is read, so that no event from here on is missed.
    const watched = this.#watcher.watchFolder(realPath, inode);
    const same = before !== undefined && before.realPath === realPath && before.inode === inode;
    const trusted = isFirst && same && watched && !changes.everything;
    if (trusted && before.identity === contentIdentity(stats)) {
      const touched = changes.in(realPath) || before.turns.some((turn) => changes.has(turn));
      if (!touched) return before;
    }
    const folder = { path, realPath, stats, trail, changes, cache: this.#cache, before, trusted };
    return (await relistFolder(this.#options, folder)) ?? listFolder(this.#options, folder);
  }

  #absent(reason: string): Scan {
    this.#missing.push({ path: ".", reason, beside: [] });
    return this.#result(undefined, undefined);
  }

  /** Listed once, for that may take long: folders of no layer are not looked at otherwise. */
  async #foldersBeside(path: string): Promise<readonly string[]> {
    const known = this.#before?.missing.find((folder) => folder.path === path);
    if (known !== undefined) return known.beside;
    const parent = posix.dirname(path);
    const { realPath } = this.#folders.get(parent) ?? {};
    if (realPath === undefined) return [];
    const entries = await readdir(realPath, { withFileTypes: true }).catch(() => []);
    const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
    return folders.slice(0, maxKept).map(({ name }) => pathBelow(parent, name));
  }

  #limit(path: string, message: string): void {
    const file = join(this.#options.directory, path);
    this.#findings.push({ code: "XDSKIT_FOLDER_LIMIT", severity: "error", message, file });
  }

  #result(root: string | undefined, rootInode: string | undefined): Scan {
    return {
      root,
      rootInode,
      files: this.#files,
      folders: this.#folders,
      links: this.#links,
      missing: this.#missing,
      findings: this.#findings,
      moved: this.#moved,
    };
  }
}
