import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { extname, join } from "node:path";
import { contentIdentity, errnoOf, isAbsence } from "@xdskit/api/disk";
import { resourceFileExtensions } from "../folder-options.js";
import type { FullFolderOptions } from "../full-folder-options.js";
import { type FolderToList, isLeftOut, pathBelow, type ScannedFile, type ScannedFolder } from "./list-folder.js";

/** Beyond this many names the operating system may have lost some events. */
const maxNames = 100;

/**
 * Looks again at the names of a folder that have events, without listing the others: one changed file of 10,000 costs
 * one `lstat`. Undefined if that is not enough: the folder or its events are unknown, it holds links or errors, or
 * anything other than a resource file comes or goes.
 */
export async function relistFolder(
  options: FullFolderOptions,
  folder: FolderToList,
): Promise<ScannedFolder | undefined> {
  const { before, trusted, changes, realPath, path } = folder;
  if (!trusted || before === undefined || !isPlain(before)) return undefined;
  const names = changes.namesIn(realPath);
  if (names === undefined || names.size > maxNames) return undefined;
  const files = new Map<string, ScannedFile | undefined>();
  for (const name of names) {
    if (isLeftOut(options, name, pathBelow(path, name))) continue;
    const known = before.files.get(name);
    const stats = await statsOf(join(realPath, name));
    if (stats === "unknown" || before.folders.some((below) => below.name === name)) return undefined;
    if (stats === "absent") {
      if (known !== undefined) files.set(name, undefined);
      continue;
    }
    if (!stats.isFile()) return undefined;
    if (!resourceFileExtensions.has(extname(name).toLowerCase())) continue;
    // Files are kept in order: a new one has no place yet.
    if (known === undefined) return undefined;
    const identity = contentIdentity(stats);
    if (identity !== known.identity) files.set(name, { ...known, identity });
  }
  return {
    ...before,
    identity: contentIdentity(folder.stats),
    files: files.size === 0 ? before.files : withFiles(before.files, files),
  };
}

function isPlain({ links, turns, findings, moved }: ScannedFolder): boolean {
  return links.length === 0 && turns.length === 0 && findings.length === 0 && !moved;
}

async function statsOf(path: string): Promise<BigIntStats | "absent" | "unknown"> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    return isAbsence(errnoOf(error)) ? "absent" : "unknown";
  }
}

function withFiles(
  before: ReadonlyMap<string, ScannedFile>,
  files: ReadonlyMap<string, ScannedFile | undefined>,
): ReadonlyMap<string, ScannedFile> {
  const after = new Map(before);
  for (const [name, file] of files) {
    if (file === undefined) after.delete(name);
    else after.set(name, file);
  }
  return after;
}
