import { stat } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";

/**
 * Checks that the path is a folder. `mayCome`: a missing folder is accepted, but not a file.
 * @throws XdskitError when it is not
 */
export async function mustBeFolder(directory: string, mayCome = false): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() || (mayCome && found === undefined)) return;
  const reason = found === undefined ? "there is no such folder" : "it is not a folder";
  throw XdskitError.of("XDSKIT_FOLDER_MISSING", reason, { file: directory });
}
