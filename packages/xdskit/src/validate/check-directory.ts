import type { EnvoyVersion } from "@xdskit/api";
import { registryWith } from "../descriptors.js";
import { mustBeFolder } from "../files/must-be-folder.js";
import { ignoredFiles, loadSettings, pathFromSettings } from "../settings/load-settings.js";
import { typesFor } from "../settings/own-types.js";
import { type CheckedFolder, checkFolder } from "./check-folder.js";

/** A folder as commands are given it. */
export interface Directory {
  readonly directory: string;
  /** The settings file; otherwise the folder's own, if it is there. */
  readonly settings?: string | undefined;
  /** Files with descriptor sets, beside those of the settings. */
  readonly descriptors: readonly string[];
  /** Versions of Envoy that must understand all of it; none by default. */
  readonly envoyVersions?: readonly EnvoyVersion[];
}

/**
 * Reads and checks a folder with its settings.
 * @throws XdskitError when it is no folder, or its settings or descriptors are missing or wrong
 */
export async function checkDirectory({
  directory,
  settings: named,
  descriptors,
  envoyVersions = [],
}: Directory): Promise<CheckedFolder> {
  await mustBeFolder(directory);
  const loaded = await loadSettings(directory, named);
  const sets = (loaded.settings.descriptors ?? []).map((path) => pathFromSettings(loaded, path));
  const registry = await registryWith([...sets, ...descriptors]);
  return checkFolder({
    directory,
    settings: loaded.settings,
    registry,
    types: typesFor(registry, loaded),
    ignore: ignoredFiles(loaded),
    envoyVersions,
  });
}
