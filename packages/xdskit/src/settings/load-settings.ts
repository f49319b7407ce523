import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { XdskitError } from "@xdskit/api";
import { readSettings } from "./read-settings.js";
import type { Settings } from "./schema.js";

/** The name of the settings file in the folder that is served. */
export const settingsFileName = "xdskit.yaml";

/** Settings and where they came from. */
export interface LoadedSettings {
  /** Undefined: there is no file, everything has its default. */
  readonly file: string | undefined;
  readonly settings: Settings;
}

/**
 * Loads the file that the user named, which must be there, or else `xdskit.yaml` in the folder, if it is there.
 * @throws XdskitError when it cannot be read or holds anything wrong
 */
export async function loadSettings(directory: string, named: string | undefined): Promise<LoadedSettings> {
  const file = named ?? join(directory, settingsFileName);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (named === undefined && (code === "ENOENT" || code === "ENOTDIR")) return { file: undefined, settings: {} };
    const reason = code === "ENOENT" ? "there is no such file" : (code ?? message);
    throw XdskitError.of(
      "XDSKIT_FILE_UNREADABLE",
      `the settings file cannot be read: ${reason}`,
      { file },
      { cause: error },
    );
  }
  return { file, settings: readSettings(file, text) };
}

/** Paths in the settings are relative to the settings file. */
export function pathFromSettings({ file }: LoadedSettings, path: string): string {
  return file === undefined ? path : resolve(dirname(file), path);
}

/** Files below the folder that hold no resources: `xdskit.yaml` always, and the settings file that was named. Absolute, or relative to the folder. */
export function ignoredFiles({ file }: LoadedSettings): readonly string[] {
  return file === undefined ? [settingsFileName] : [settingsFileName, resolve(file)];
}
