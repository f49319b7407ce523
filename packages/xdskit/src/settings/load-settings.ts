import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { XdskitError } from "@xdskit/api";
import type { RelaySettings, Settings } from "./schema.js";

/** The settings file in the served folder. */
export const settingsFileName = "xdskit.yaml";

/** Settings and their source. */
export interface LoadedSettings<Shape = Settings> {
  /** Undefined: there is no file, and everything has its default. */
  readonly file: string | undefined;
  readonly settings: Shape;
  /** Undefined: there is no file to watch. */
  readonly disk: SettingsOnDisk | undefined;
}

/** The text of the settings file, to detect edits. */
export interface SettingsOnDisk {
  readonly file: string;
  /** Undefined: the file does not exist. */
  readonly text: string | undefined;
  /** Rejects with an XdskitError if a start with that text would fail. */
  readonly check: (text: string) => Promise<unknown>;
}

/**
 * Loads the file that the user named, which must exist, or else `xdskit.yaml` in the folder, if it exists. Without a
 * folder there are no settings that nobody named.
 * @throws XdskitError if it cannot be read or has errors
 */
export async function loadSettings(directory: string | undefined, named: string | undefined): Promise<LoadedSettings> {
  const file = named ?? (directory && join(directory, settingsFileName));
  if (file === undefined) return { file, settings: {}, disk: undefined };
  const text = await settingsText(file, named === undefined);
  // Loaded only when needed: most folders have no settings, and the schema takes its time.
  const check = async (text: string) => {
    const { readSettings } = await import("./read-settings.js");
    return await fromItsFolder(readSettings(file, text), file);
  };
  const disk = { file, text, check };
  if (text === undefined) return { file: undefined, settings: {}, disk };
  return { file, settings: await check(text), disk };
}

/** What a cluster adds to all settings. */
export interface OfCluster extends Required<Pick<Settings, "lowest">>, Pick<Settings, "configMaps"> {
  readonly hasSecrets: boolean;
}

/**
 * The same with a layer below all others, and those of ConfigMaps, also after each edit.
 * @throws XdskitError if another layer has the name of one
 */
export function withCluster(loaded: LoadedSettings, { lowest, configMaps, hasSecrets }: OfCluster): LoadedSettings {
  const { settings, disk } = loaded;
  const added = (given: Settings): Settings => {
    const { layers = [], groups = [], identities = [] } = given;
    // Without any rule, whoever reaches the port would get them.
    if (hasSecrets && !identities.some(({ secrets }) => secrets === true)) {
      const message = "no rule of identities has `secrets: true`, as --tls-secrets needs: it says who gets secrets";
      throw XdskitError.of("XDSKIT_SETTINGS_INVALID", message, { file: loaded.file });
    }
    const folders = groups.flatMap((group) => group.folders);
    // A ConfigMap may name any folder, also one that no group has.
    const isOfMaps = (name: string) => name === configMaps?.() || (configMaps && name.startsWith(configMaps("")));
    const names = [...layers.map(({ name }) => name), ...folders];
    const taken = names.find((name) => name === lowest || isOfMaps(name));
    if (taken === undefined) return { ...given, lowest, configMaps };
    const message = `a folder or a layer is called "${taken}", as a layer of the cluster is: call it something else`;
    throw XdskitError.of("XDSKIT_SETTINGS_INVALID", message, { file: loaded.file });
  };
  const check = disk && (async (text: string) => added((await disk.check(text)) as Settings));
  return { ...loaded, settings: added(settings), disk: disk && check && { ...disk, check } };
}

/** Loads the settings of a relay; without a file everything has its default. Throws as `loadSettings` does. */
export async function loadRelaySettings(file: string | undefined): Promise<LoadedSettings<RelaySettings>> {
  if (file === undefined) return { file, settings: {}, disk: undefined };
  const text = (await settingsText(file, false)) ?? "";
  const [{ readSettingsAs }, { relaySettingsSchema }] = await Promise.all([
    import("./read-settings.js"),
    import("./schema.js"),
  ]);
  const check = async (text: string) => fromItsFolder(readSettingsAs(relaySettingsSchema, file, text), file);
  return { file, settings: await check(text), disk: { file, text, check } };
}

/** The files of keys are named from the settings file. */
async function fromItsFolder<Shape extends Pick<Settings, "identities" | "roles">>(
  settings: Shape,
  file: string,
): Promise<Shape> {
  const { identities, roles } = settings;
  if (identities === undefined && roles === undefined) return settings;
  const { rulesFrom } = await import("./identities.js");
  return {
    ...settings,
    ...(identities && { identities: rulesFrom(identities, file) }),
    ...(roles && { roles: rulesFrom(roles, file) }),
  };
}

async function settingsText(file: string, mayBeMissing: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (mayBeMissing && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    const reason = code === "ENOENT" ? "there is no such file" : (code ?? message);
    throw XdskitError.of(
      "XDSKIT_FILE_UNREADABLE",
      `the settings file cannot be read: ${reason}`,
      { file },
      { cause: error },
    );
  }
}

/** Paths in the settings are relative to the settings file. */
export function pathFromSettings({ file }: Pick<LoadedSettings, "file">, path: string): string {
  return file === undefined ? path : resolve(dirname(file), path);
}

/**
 * Files below the folder that hold no resources: `xdskit.yaml` always, and the named settings file. Absolute, or
 * relative to the folder.
 */
export function ignoredFiles({ file }: LoadedSettings): readonly string[] {
  return file === undefined ? [settingsFileName] : [settingsFileName, resolve(file)];
}
