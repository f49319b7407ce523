/// <reference types="node" preserve="true" />
import type { BigIntStats } from "node:fs";
import { sep } from "node:path";

/** The metadata of a file that changes when its bytes change. */
export function contentIdentity({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Whether two stats show the same file content. */
export function sameIdentity(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** The identity of a file or folder, independent of its path. */
export function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Names the kind of a thing that is not a file. */
export function fileKindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

/** Whether a real path is a folder or lies below it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The `code` of a system error, such as `ENOENT`. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error);
}

/** Whether an error means that something does not exist. */
export function isAbsence(errno: string): boolean {
  return errno === "ENOENT" || errno === "ENOTDIR";
}

/** A system error's code in words. */
export function errnoText(errno: string): string {
  if (isAbsence(errno)) return "it does not exist";
  if (errno === "EACCES" || errno === "EPERM") return "permission denied";
  if (errno === "ELOOP") return "the symbolic link leads in a circle";
  return errno;
}
