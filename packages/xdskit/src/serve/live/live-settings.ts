import { isDeepStrictEqual } from "node:util";
import { errorsIn, type Finding, XdskitError } from "@xdskit/api";
import type { LiveOptions, References, XdsServer } from "@xdskit/server";
import type { KeptHistory } from "../../daemon/revisions/retention.js";
import type { TakenSettings } from "../../daemon/settings-watch.js";
import { liveOptions } from "../../settings/live-options.js";
import type { Settings } from "../../settings/schema.js";
import { accessKeys, liveKeys, settingsChange } from "../../settings/settings-change.js";
import { writtenLayers } from "../../settings/written-layers.js";
import { folderLayers, type ServedFolder } from "../folder/served-folder.js";
import { RefusedFolder } from "./refused-folder.js";

/** The parts of the command that can take over other settings. */
export interface LiveParts {
  readonly server: XdsServer;
  readonly history: Pick<KeptHistory, "use">;
  /** The options of the command line, which win. */
  readonly references: References | undefined;
  /** All streams are in one thread, and no files are written: groups and limits can change. */
  readonly isWhole: boolean;
  /** Processes that serve together, this one included. Default: this one alone. */
  readonly workers?: number | undefined;
  /** Makes what serves the folder with these settings. `failed`: its first reading found nothing that can be served. */
  folderWith(settings: Settings, failed: (findings: readonly Finding[]) => void): ServedFolder;
  /** Another folder is served now, with these settings. */
  moved(folder: ServedFolder, settings: Settings): void;
}

/** The settings in use by a server, and the folder that is served with them. */
export class LiveSettings {
  readonly #parts: LiveParts;
  #inUse: Settings;
  #folder: ServedFolder;
  #refused: RefusedFolder | undefined;

  constructor(parts: LiveParts, settings: Settings, folder: ServedFolder) {
    this.#parts = parts;
    this.#inUse = settings;
    this.#folder = folder;
  }

  get settings(): Settings {
    return this.#inUse;
  }

  get folder(): ServedFolder {
    return this.#folder;
  }

  /** The errors for which the folder, as the newest settings name it, is not served. */
  get refused(): readonly Finding[] {
    return this.#refused?.error.findings ?? [];
  }

  /** A folder that was refused is not tried any more. */
  async giveUp(): Promise<undefined> {
    await this.#tellOf(undefined);
  }

  /** Takes over what can change while the server runs. Rejects, and nothing has changed, if that cannot be now. */
  async take(edited: Settings): Promise<TakenSettings> {
    const { server, isWhole, references, history, workers } = this.#parts;
    const keys =
      isWhole && isSameInApi(this.#inUse, edited)
        ? liveKeys
        : new Set(["references", "references_except", "state", ...accessKeys] as const);
    const { live: changed, restart, next } = settingsChange(this.#inUse, edited, keys);
    const live = changed.filter((key) => key !== "references" || references === undefined);
    const isSame = isSameFolder(this.#inUse, next);
    if (isSame) await this.giveUp();
    if (live.length === 0) return { applied: [], restart };
    const options = liveOptions(next, live, workers);
    if (isSame) server.reconfigure(options);
    else await this.#moveTo(next, options);
    this.#inUse = next;
    if (live.includes("state")) await history.use(next.state);
    return { applied: live, restart };
  }

  /**
   * Groups have other folders: these are read before any node is told of them, and the layers of those that are left
   * go once no node has them any more.
   */
  async #moveTo(next: Settings, options: LiveOptions): Promise<void> {
    const { server, folderWith, moved } = this.#parts;
    let giveUp: (error: Error) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    failed.catch(() => {});
    const fresh = folderWith(next, (findings) => {
      const [first, ...more] = errorsIn(findings);
      if (first !== undefined) giveUp(new XdskitError([first, ...more]));
    });
    const [before, old] = [this.#inUse, this.#folder];
    let goOn: (() => void) | undefined;
    try {
      // What the old one keeps must come first: the newest revision is what a start would serve.
      goOn = await old.kept?.pause();
      const started = server.addSource(fresh.source);
      started.catch(() => {});
      await Promise.race([started, failed]);
      server.reconfigure(options);
    } catch (error) {
      if (error instanceof XdskitError) await this.#tellOf(new RefusedFolder(fresh.source.name, error));
      await fresh.close();
      goOn?.();
      throw error;
    }
    this.#folder = fresh;
    moved(fresh, next);
    await this.giveUp();
    fresh.checkNames();
    await old.close();
    const kept = new Set(folderLayers({ settings: next }));
    for (const layer of folderLayers({ settings: before })) if (!kept.has(layer)) server.config.layer(layer).drop();
  }

  /** The server tells of this refusal from now on, and not of the one before. */
  async #tellOf(refused: RefusedFolder | undefined): Promise<void> {
    const before = this.#refused;
    this.#refused = refused;
    // First, so that an error of both is told once.
    if (refused !== undefined) this.#parts.server.addSource(refused).catch(() => {});
    await before?.close();
  }
}

/** A folder with the name of a layer that the API writes takes its place: the API knows its layers from the start. */
function isSameInApi(before: Settings, edited: Settings): boolean {
  const namesOf = (groups: Settings["groups"]) =>
    writtenLayers({ layers: before.layers, groups }).map(({ name }) => name);
  const names = namesOf(edited.groups);
  const isTaken = edited.groups?.some(({ folders }) => folders.some((folder) => names.includes(folder)));
  return !isTaken && isDeepStrictEqual(namesOf(before.groups), names);
}

/** Whether the groups have the same names and folders: what serves the folder knows these. */
function isSameFolder(before: Settings, next: Settings): boolean {
  const foldersOf = ({ groups }: Settings) => groups?.map(({ name, folders }) => ({ name, folders }));
  return isDeepStrictEqual(foldersOf(before), foldersOf(next));
}
