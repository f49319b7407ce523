import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { XdskitError } from "@xdskit/api";

/** The folders that are read and written. */
export interface ReadAndWritten {
  /** The folder that is served. */
  readonly served: string;
  /** The folders in it that are read, relative to it; undefined: all of it. */
  readonly folders: readonly string[] | undefined;
  /** The folder of --to-files. */
  readonly written: string;
}

/**
 * The written files must not be read again: every resource would exist twice, no change would be applied any more, and
 * the next start would fail. Throws an XdskitError for a folder inside a served one.
 */
export async function mustNotBeServed({ served, folders = ["."], written }: ReadAndWritten): Promise<void> {
  const path = await realPath(written);
  for (const folder of folders) {
    if (!isRead(relative(await realPath(join(served, folder)), path))) continue;
    const message = `the folder is in ${join(served, folder)}, which is served: name one that is elsewhere`;
    throw XdskitError.of("XDSKIT_TO_FILES", message, { file: written });
  }
}

/** Whether files at this path, relative to a served folder, are served: those in dot folders are not. */
function isRead(path: string): boolean {
  if (isAbsolute(path)) return false;
  return !path.split(sep).some((part) => part.startsWith("."));
}

/** Without symbolic links, as far as the path exists. */
async function realPath(path: string): Promise<string> {
  const absolute = resolve(path);
  const found = await realpath(absolute).catch(() => undefined);
  if (found !== undefined || dirname(absolute) === absolute) return found ?? absolute;
  return join(await realPath(dirname(absolute)), basename(absolute));
}
