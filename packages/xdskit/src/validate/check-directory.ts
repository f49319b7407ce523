import { registryWith } from "../descriptors.js";
import { mustBeFolder } from "../files/must-be-folder.js";
import { ignoredFiles, loadSettings, pathFromSettings } from "../settings/load-settings.js";
import { type CheckedFolder, checkFolder } from "./check-folder.js";

/** A folder as commands are given it. */
export interface Directory {
  readonly directory: string;
  /** The settings file; otherwise the folder's own, if it is there. */
  readonly settings?: string | undefined;
  /** Files with descriptor sets, beside those of the settings. */
  readonly descriptors: readonly string[];
}

/**
 * Reads and checks a folder with its settings.
 * @throws XdskitError when it is no folder, or its settings or descriptors are missing or wrong
 */
export async function checkDirectory({ directory, settings: named, descriptors }: Directory): Promise<CheckedFolder> {
  await mustBeFolder(directory);
  const loaded = await loadSettings(directory, named);
  const sets = (loaded.settings.descriptors ?? []).map((path) => pathFromSettings(loaded, path));
  const registry = await registryWith([...sets, ...descriptors]);
  return checkFolder({ directory, settings: loaded.settings, registry, ignore: ignoredFiles(loaded) });
}
