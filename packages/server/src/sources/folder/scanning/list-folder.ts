import type { BigIntStats, Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import type { Finding } from "@xdskit/api";
import {
  contentIdentity,
  errnoOf,
  errnoText,
  type FollowedLink,
  fileKindOf,
  followPath,
  inodeOf,
  isAbsence,
  isBelow,
  type LinkCache,
  problemText,
  type Turn,
} from "@xdskit/api/disk";
import { isWithin, resourceFileExtensions } from "../folder-options.js";
import type { FullFolderOptions } from "../full-folder-options.js";
import type { ChangesOnDisk } from "./changes-on-disk.js";
import { eachOf } from "./each-of.js";

/** A file with resources, as a scan found it. The same object as before if nothing changed. */
export interface ScannedFile {
  /** Relative to the directory, with `/`. */
  readonly path: string;
  /** Its real path. */
  readonly realPath: string;
  /** Changes whenever the file could have other bytes. Undefined if it is new, and its reader looks at its metadata. */
  readonly identity: string | undefined;
}

/** One folder's own part of a scan: its entries and their errors. */
export interface ScannedFolder {
  readonly realPath: string;
  readonly inode: string;
  readonly identity: string;
  readonly files: ReadonlyMap<string, ScannedFile>;
  readonly folders: readonly { readonly name: string; readonly realPath: string }[];
  readonly links: readonly FollowedLink[];
  readonly turns: readonly Turn[];
  readonly findings: readonly Finding[];
  /** Something went away during the scan. */
  readonly moved: boolean;
}

/** A folder to look at. */
export interface FolderToList {
  /** Relative to the directory, with `/`. */
  readonly path: string;
  readonly realPath: string;
  readonly stats: BigIntStats;
  /** The real paths of the folders that it is in, and its own. */
  readonly trail: readonly string[];
  readonly changes: ChangesOnDisk;
  readonly cache: LinkCache;
  /** The previous listing. */
  readonly before: ScannedFolder | undefined;
  /** Whether files may be taken from there as long as `changes` does not name them. */
  readonly trusted: boolean;
}

/** The number of system calls that run at once. */
const parallel = 16;

type FolderEntry =
  | { readonly kind: "nothing" }
  | { readonly kind: "file"; readonly file: ScannedFile }
  | { readonly kind: "folder"; readonly realPath: string }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "gone" };

const nothing: FolderEntry = { kind: "nothing" };

/** Reads a folder's entries. Throws only if that cannot be done at all. */
export async function listFolder(options: FullFolderOptions, folder: FolderToList): Promise<ScannedFolder> {
  const files: [string, ScannedFile][] = [];
  const folders: { name: string; realPath: string }[] = [];
  const links: FollowedLink[] = [];
  const turns: Turn[] = [];
  const findings: (Finding & { readonly file: string })[] = [];
  let moved = false;
  const entries = await readdir(folder.realPath, { withFileTypes: true });
  await eachOf(entries, parallel, async (dirent) => {
    const { name } = dirent;
    const path = pathBelow(folder.path, name);
    const entry = isLeftOut(options, name, path) ? nothing : await look(options, folder, dirent, path, links, turns);
    switch (entry.kind) {
      case "file":
        files.push([name, entry.file]);
        break;
      case "folder":
        folders.push({ name, realPath: entry.realPath });
        break;
      case "unreadable":
        findings.push(unreadable(join(options.directory, path), entry.reason));
        break;
      case "gone":
        moved = true;
        break;
      case "nothing":
    }
  });
  return {
    realPath: folder.realPath,
    inode: inodeOf(folder.stats),
    identity: contentIdentity(folder.stats),
    // Sorted, because system calls return in any order.
    files: new Map(files.sort(([a], [b]) => compare(a, b))),
    folders: folders.sort((a, b) => compare(a.name, b.name)),
    links,
    turns,
    findings: findings.sort((a, b) => compare(a.file, b.file)),
    moved,
  };
}

/** The finding for something that cannot be read. */
export function unreadable(file: string, reason: string): Finding & { readonly file: string } {
  return { code: "XDSKIT_FILE_UNREADABLE", severity: "error", message: `cannot be read: ${reason}`, file };
}

/** The path of an entry, relative to the directory. */
export function pathBelow(folder: string, name: string): string {
  return folder === "." ? name : `${folder}/${name}`;
}

async function look(
  options: FullFolderOptions,
  folder: FolderToList,
  dirent: Dirent,
  path: string,
  links: FollowedLink[],
  turns: Turn[],
): Promise<FolderEntry> {
  const { name } = dirent;
  const { realPath: directory, before } = folder;
  const isResourceFile = resourceFileExtensions.has(extname(name).toLowerCase());
  const known = before?.files.get(name);
  if (dirent.isFile()) {
    if (!isResourceFile) return nothing;
    const untouched = folder.trusted && !folder.changes.has({ directory, name });
    if (untouched && known !== undefined) return { kind: "file", file: known };
    // It is read in any case, and its metadata are looked at then. (A name that is not UTF-8 cannot be passed back to
    // the system, and is not found below.)
    if (known === undefined && !name.includes("\ufffd")) {
      return { kind: "file", file: { path, realPath: pathIn(directory, name), identity: undefined } };
    }
  }
  let realPath = join(directory, name);
  if (dirent.isSymbolicLink()) {
    const followed = await followPath(realPath, folder.cache);
    links.push(...followed.links);
    turns.push(...followed.turns);
    if (followed.realPath === undefined) {
      // A link that can hold no resources (README.md) may lead anywhere.
      return isResourceFile || extname(name) === "" ? { kind: "unreadable", reason: problemText(followed) } : nothing;
    }
    realPath = followed.realPath;
    if (options.ignored.has(realPath)) return nothing;
  }
  let stats: BigIntStats;
  try {
    stats = await lstat(realPath, { bigint: true });
  } catch (error) {
    const errno = errnoOf(error);
    // Such a name cannot be passed back to the system, so its file is never found.
    if (isAbsence(errno) && name.includes("\ufffd")) {
      return isResourceFile ? { kind: "unreadable", reason: "its name is not UTF-8" } : nothing;
    }
    return isAbsence(errno) ? { kind: "gone" } : { kind: "unreadable", reason: errnoText(errno) };
  }
  if (isResourceFile) {
    // If a container mounts a file that does not exist, it gets a folder of that name: report it.
    if (!stats.isFile()) return { kind: "unreadable", reason: `it is ${fileKindOf(stats)}, not a file` };
    const identity = contentIdentity(stats);
    const same = known !== undefined && known.identity === identity && known.realPath === realPath;
    return { kind: "file", file: same ? known : { path, realPath, identity } };
  }
  if (!stats.isDirectory()) return nothing;
  if (!folder.trail.some((upper) => isBelow(upper, realPath))) return { kind: "folder", realPath };
  return { kind: "unreadable", reason: `the symbolic link leads in a circle: ${realPath} holds the link itself` };
}

/** Whether a name can neither be nor lead to a file of some layer. */
export function isLeftOut({ absolute, layers, ignored }: FullFolderOptions, name: string, path: string): boolean {
  if (name.startsWith(".") || ignored.has(join(absolute, path))) return true;
  return !layers.some((layer) => isWithin(path, layer.path) || isWithin(layer.path, path));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The same as `join`, for a normal path and a name: a start asks for as many as there are files. */
function pathIn(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name;
}
