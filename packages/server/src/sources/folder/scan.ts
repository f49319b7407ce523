import type { BigIntStats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import type { Finding } from "@xdskit/api";
import type { Changes } from "./changes.js";
import { eachOf } from "./each-of.js";
import { type FolderLimits, isWithin, type LayerFolder, resourceFileExtensions } from "./folder-options.js";
import type { FolderWatcher } from "./folder-watcher.js";
import { errnoOf, type FollowedLink, type FollowedPath, followPath, type LinkCache, type Turn } from "./links.js";

/** A file with resources, as a scan found it. The same object as before where nothing changed. */
export interface ScannedFile {
  /** Relative to the directory, with `/`. */
  readonly path: string;
  /** Where it really is. */
  readonly realPath: string;
  /** Changes whenever the file could have other bytes. */
  readonly identity: string;
}

/** One folder's own part of a scan. */
interface ScannedFolder {
  readonly realPath: string;
  readonly inode: string;
  readonly identity: string;
  readonly files: ReadonlyMap<string, ScannedFile>;
  readonly folders: readonly { readonly name: string; readonly realPath: string }[];
  readonly links: readonly FollowedLink[];
  readonly turns: readonly Turn[];
  readonly findings: readonly Finding[];
}

/** Which files there are, without their bytes. */
export interface Scan {
  /** The directory without symbolic links; undefined: it is not there. */
  readonly root: string | undefined;
  /** Which folder that is. */
  readonly rootInode: string | undefined;
  readonly files: ReadonlyMap<string, ScannedFile>;
  readonly folders: ReadonlyMap<string, ScannedFolder>;
  /** Every symbolic link that was followed: while they stay, what was scanned is one state. */
  readonly links: readonly FollowedLink[];
  /** The directory (`.`) or folders of layers that are not there, and why. */
  readonly missing: readonly { readonly path: string; readonly reason: string }[];
  readonly findings: readonly Finding[];
  /** Something went away while it was looked at. */
  readonly moved: boolean;
}

export interface ScanOptions {
  /** Absolute. */
  readonly directory: string;
  /** The directory as findings show it. */
  readonly shown: string;
  readonly layers: readonly LayerFolder[];
  /** Absolute paths of files to leave out. */
  readonly ignored: ReadonlySet<string>;
  readonly limits: FolderLimits;
}

/** How many system calls of one scan run at once. */
const parallel = 16;

/**
 * Looks at a folder's tree. Costs a `stat` a folder, and one a file in folders where something happened; all files where `changes`
 * says that nothing is known. Never throws.
 */
export async function scanFolder(
  options: ScanOptions,
  watcher: FolderWatcher,
  changes: Changes,
  before: Scan | undefined,
): Promise<Scan> {
  const scanner = new Scanner(options, watcher, changes, before);
  watcher.begin();
  const scan = await scanner.run();
  watcher.end();
  return scan;
}

class Scanner {
  readonly #options: ScanOptions;
  readonly #watcher: FolderWatcher;
  readonly #changes: Changes;
  readonly #before: Scan | undefined;
  readonly #cache: LinkCache = new Map();
  readonly #files = new Map<string, ScannedFile>();
  readonly #folders = new Map<string, ScannedFolder>();
  readonly #links: FollowedLink[] = [];
  readonly #findings: Finding[] = [];
  readonly #missing: { path: string; reason: string }[] = [];
  #moved = false;
  #full = false;

  constructor(options: ScanOptions, watcher: FolderWatcher, changes: Changes, before: Scan | undefined) {
    this.#options = options;
    this.#watcher = watcher;
    this.#changes = changes;
    this.#before = before;
  }

  async run(): Promise<Scan> {
    const { directory, layers } = this.#options;
    const root = await followPath(directory, this.#cache);
    for (const turn of root.turns) this.#watcher.watchTurn(turn);
    this.#links.push(...root.links);
    if (root.realPath === undefined) {
      return this.#absent(problemText(root));
    }
    let stats: BigIntStats;
    try {
      stats = await stat(root.realPath, { bigint: true });
    } catch (error) {
      return this.#absent(errnoText(errnoOf(error)));
    }
    if (!stats.isDirectory()) return this.#absent("it is not a folder");
    await this.#folder(".", root.realPath, []);
    for (const { path } of layers) {
      if (!this.#folders.has(path) && !this.#findings.some(({ file }) => file === this.#shown(path))) {
        this.#missing.push({ path, reason: errnoText("ENOENT") });
      }
    }
    return this.#result(root.realPath, inodeOf(stats));
  }

  #absent(reason: string): Scan {
    this.#missing.push({ path: ".", reason });
    return this.#result(undefined, undefined);
  }

  #result(root: string | undefined, rootInode: string | undefined): Scan {
    const { limits } = this.#options;
    if (this.#full) {
      const message = `more than ${limits.files} files; those beyond were not looked at`;
      this.#findings.push({ code: "XDSKIT_FOLDER_LIMIT", severity: "error", message, file: this.#options.shown });
    }
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

  async #folder(path: string, realPath: string, above: readonly string[]): Promise<void> {
    if (this.#full) return;
    if (above.length > this.#options.limits.depth) {
      const message = `more than ${this.#options.limits.depth} folders deep`;
      this.#findings.push({ code: "XDSKIT_FOLDER_LIMIT", severity: "error", message, file: this.#shown(path) });
      return;
    }
    let folder: ScannedFolder;
    try {
      folder = await this.#look(path, realPath, [...above, realPath]);
    } catch (error) {
      const code = errnoOf(error);
      // It was there a moment ago: whoever takes it away is not done.
      if (code === "ENOENT" || code === "ENOTDIR") this.#moved = true;
      else this.#unreadable(this.#findings, path, errnoText(code));
      return;
    }
    this.#folders.set(path, folder);
    this.#links.push(...folder.links);
    this.#findings.push(...folder.findings);
    for (const turn of folder.turns) this.#watcher.watchTurn(turn);
    for (const file of folder.files.values()) {
      if (this.#files.size >= this.#options.limits.files) {
        this.#full = true;
        return;
      }
      this.#files.set(file.path, file);
    }
    for (const { name, realPath: below } of folder.folders) {
      await this.#folder(joinShown(path, name), below, [...above, realPath]);
    }
  }

  /** One folder's own entries; what is known of it already where nothing happened. */
  async #look(path: string, realPath: string, trail: readonly string[]): Promise<ScannedFolder> {
    const stats = await stat(realPath, { bigint: true });
    const inode = inodeOf(stats);
    const watched = this.#watcher.watchFolder(realPath, inode);
    const known = this.#before?.folders.get(path);
    const same = watched && known !== undefined && known.realPath === realPath && known.inode === inode;
    const trusted = same && !this.#changes.everything ? known : undefined;
    if (trusted !== undefined && trusted.identity === identityOf(stats) && !this.#touched(trusted)) return trusted;
    return this.#list(path, realPath, stats, trail, trusted, known);
  }

  #touched(folder: ScannedFolder): boolean {
    return this.#changes.in(folder.realPath) || folder.turns.some((turn) => this.#changes.has(turn));
  }

  async #list(
    path: string,
    realPath: string,
    stats: BigIntStats,
    trail: readonly string[],
    trusted: ScannedFolder | undefined,
    known: ScannedFolder | undefined,
  ): Promise<ScannedFolder> {
    const entries = await readdir(realPath, { withFileTypes: true });
    const files = new Map<string, ScannedFile>();
    const folders: { name: string; realPath: string }[] = [];
    const links: FollowedLink[] = [];
    const turns: Turn[] = [];
    const findings: Finding[] = [];
    const served = entries.filter(({ name }) => !name.startsWith(".") && this.#serves(path, name));
    await eachOf(served, parallel, async (entry) => {
      const { name } = entry;
      const shown = joinShown(path, name);
      const isFile = resourceFileExtensions.has(extname(name).toLowerCase());
      if (entry.isFile() && !isFile) return;
      if (entry.isFile()) {
        const same = trusted?.files.get(name);
        if (same !== undefined && !this.#changes.has({ directory: realPath, name })) {
          files.set(name, same);
          return;
        }
      }
      let place = join(realPath, name);
      if (entry.isSymbolicLink()) {
        const followed = await followPath(place, this.#cache);
        links.push(...followed.links);
        turns.push(...followed.turns);
        if (followed.realPath === undefined) {
          // A link to anything else than resources (README.md) may lead where it wants.
          if (isFile || extname(name) === "") this.#unreadable(findings, shown, problemText(followed));
          return;
        }
        place = followed.realPath;
      }
      if (this.#options.ignored.has(join(this.#options.directory, shown)) || this.#options.ignored.has(place)) return;
      let found: BigIntStats;
      try {
        found = await lstat(place, { bigint: true });
      } catch (error) {
        const code = errnoOf(error);
        if (code === "ENOENT" || code === "ENOTDIR") this.#moved = true;
        else this.#unreadable(findings, shown, errnoText(code));
        return;
      }
      if (found.isDirectory() && !isFile) {
        const circle = trail.find((upper) => isBelow(upper, place));
        if (circle === undefined) folders.push({ name, realPath: place });
        else this.#unreadable(findings, shown, `the symbolic link leads in a circle: ${place} holds the link itself`);
        return;
      }
      if (!isFile) return;
      if (!found.isFile()) {
        this.#unreadable(findings, shown, `it is ${kindOf(found)}, not a file`);
        return;
      }
      const identity = identityOf(found);
      const old = known?.files.get(name);
      const same = old !== undefined && old.identity === identity && old.realPath === place;
      files.set(name, same ? old : { path: shown, realPath: place, identity });
    });
    return {
      realPath,
      inode: inodeOf(stats),
      identity: identityOf(stats),
      files: sorted(files),
      folders: folders.sort((a, b) => compare(a.name, b.name)),
      links,
      turns,
      findings: findings.sort((a, b) => compare(a.file ?? "", b.file ?? "")),
    };
  }

  /** Whether a name can be, or lead to, a file of some layer. */
  #serves(path: string, name: string): boolean {
    const shown = joinShown(path, name);
    return this.#options.layers.some((layer) => isWithin(shown, layer.path) || isWithin(layer.path, shown));
  }

  #unreadable(findings: Finding[], path: string, reason: string): void {
    const message = `cannot be read: ${reason}`;
    findings.push({ code: "XDSKIT_FILE_UNREADABLE", severity: "error", message, file: this.#shown(path) });
  }

  #shown(path: string): string {
    return path === "." ? this.#options.shown : join(this.#options.shown, path);
  }
}

/** What of a file's metadata changes when its bytes do. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Which file or folder it is, whatever its path. */
export function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function joinShown(path: string, name: string): string {
  return path === "." ? name : `${path}/${name}`;
}

function problemText({ problem, links }: FollowedPath): string {
  if (problem === "ELOOP") return "the symbolic link leads in a circle";
  const last = links.at(-1);
  const text = errnoText(problem ?? "ENOENT");
  return last === undefined ? text : `the symbolic link ${last.path} leads to ${last.target}: ${text}`;
}

/** A system error's code in words. */
export function errnoText(code: string): string {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return "it does not exist";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "ELOOP":
      return "the symbolic link leads in a circle";
    default:
      return code;
  }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sorted<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  return new Map([...map].sort(([a], [b]) => compare(a, b)));
}
