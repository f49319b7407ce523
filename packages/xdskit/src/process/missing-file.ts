import type { XdskitError } from "@xdskit/api";

/** Whether a folder is missing, or one of the files that the command line names cannot be read: wrong usage. */
export function isMissingFile(error: XdskitError, named: readonly (string | undefined)[]): boolean {
  if (error.code === "XDSKIT_FOLDER_MISSING") return true;
  return error.code === "XDSKIT_FILE_UNREADABLE" && named.includes(error.findings[0]?.file ?? "");
}
