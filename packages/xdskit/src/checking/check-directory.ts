import type { EnvoyVersion } from "@xdskit/api";
import { mustBeFolder } from "../files/must-be-folder.js";
import { registryWith } from "../settings/descriptors.js";
import { ignoredFiles, loadSettings, pathFromSettings } from "../settings/load-settings.js";
import { typesFor } from "../settings/own-types.js";
import { checkFolder } from "./check-folder.js";

/** A folder, as given to a command. */
export interface Directory {
  readonly directory: string;
  /** The settings file; by default the folder's own, if it exists. */
  readonly settings?: string | undefined;
  /** Files with descriptor sets, in addition to those in the settings. */
  readonly descriptors: readonly string[];
  /** Versions of Envoy that must understand all resources; none by default. */
  readonly envoyVersions?: readonly EnvoyVersion[];
  /** Whether all of it is one layer, whatever groups the settings have. */
  readonly isOneLayer?: boolean;
}

/** A folder that was checked, and with what. */
export type CheckedDirectory = Awaited<ReturnType<typeof checkDirectory>>;

/**
 * Reads and checks a folder with its settings.
 * @throws XdskitError if it is not a folder, or its settings or descriptors are missing or wrong
 */
export async function checkDirectory({
  directory,
  settings: named,
  descriptors,
  envoyVersions = [],
  isOneLayer = false,
}: Directory) {
  await mustBeFolder(directory);
  const loaded = await loadSettings(directory, named);
  const sets = (loaded.settings.descriptors ?? []).map((path) => pathFromSettings(loaded, path));
  const registry = await registryWith([...sets, ...descriptors]);
  const types = typesFor(registry, loaded);
  const settings = isOneLayer ? { ...loaded.settings, groups: undefined } : loaded.settings;
  const readWith = { settings, registry, types };
  return {
    ...(await checkFolder({ ...readWith, directory, ignore: ignoredFiles(loaded), envoyVersions })),
    ...readWith,
  };
}
