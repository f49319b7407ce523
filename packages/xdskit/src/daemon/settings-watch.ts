import { readFile } from "node:fs/promises";
import { type Log, logFinding } from "@xdskit/admin/log";
import { type Finding, messageOf, XdskitError } from "@xdskit/api";
import { lookMs } from "@xdskit/api/disk";
import type { SettingsOnDisk } from "../settings/load-settings.js";

/** Settings that could not be taken over are tried again after this many looks. */
const retryLooks = 5;

/** An edit is looked at again after this many milliseconds: whoever writes the file may not have written all of it. */
const stillMs = 200;

/** The result of new settings for a running command. */
export interface TakenSettings {
  /** The keys that are in use from now on. */
  readonly applied: readonly string[];
  /** The keys that need a restart. */
  readonly restart: readonly string[];
}

/**
 * Takes settings over, as they were read from the file. Rejects with an XdskitError if that cannot be now, and then
 * nothing has changed. Resolves to undefined if the command reads settings only at its start. Called with undefined if
 * the file is gone or has errors: then those that could not be taken over before are not tried again.
 */
export type TakeSettings = (settings: unknown) => Promise<TakenSettings | undefined> | undefined;

/**
 * Follows the settings file of a running command. For each edit it says once what is in use from now on, what needs a
 * restart, or what is wrong. Two looks in a row must find the same text, so that a half-written file is not reported.
 */
export function watchSettings(
  disk: SettingsOnDisk | undefined,
  log: Log,
  take: TakeSettings = () => undefined,
  everyMs = lookMs,
): WatchedSettings {
  return disk === undefined
    ? { wrong: undefined, async look() {}, async close() {} }
    : new SettingsWatch(disk, log, take, everyMs);
}

/** A settings file that is followed. */
export interface WatchedSettings {
  /** Why a restart would fail, and since when; undefined: the file is valid, or gone. */
  readonly wrong: WrongSettings | undefined;
  /** Looks now: what the file has is taken for whole. */
  look(): Promise<void>;
  /** Ends it. */
  close(): Promise<void>;
}

export interface WrongSettings {
  readonly findings: readonly Finding[];
  /** Milliseconds since 1970. */
  readonly since: number;
}

class SettingsWatch implements WatchedSettings {
  readonly #disk: SettingsOnDisk;
  readonly #log: Log;
  readonly #take: TakeSettings;
  readonly #everyMs: number;
  #before: SeenFile;
  #reported: SeenFile;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #looking: Promise<void> = Promise.resolve();
  wrong: WrongSettings | undefined;
  /** Why the newest settings could not be taken over, and how many looks ago. */
  #failed: { readonly message: string; looks: number } | undefined;

  constructor(disk: SettingsOnDisk, log: Log, take: TakeSettings, everyMs: number) {
    this.#disk = disk;
    this.#log = log;
    this.#take = take;
    this.#everyMs = everyMs;
    this.#before = disk.text;
    this.#reported = disk.text;
    this.#lookLater();
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    const isNew = !same(this.#before, this.#reported);
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#look().finally(() => !this.#closed && this.#lookLater());
      },
      isNew ? Math.min(stillMs, this.#everyMs) : this.#everyMs,
    ).unref();
  }

  async look(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking = this.#looking.then(async () => {
      this.#before = await textOf(this.#disk.file);
      await this.#look();
    });
    await this.#looking;
    if (!this.#closed) this.#lookLater();
  }

  async #look(): Promise<void> {
    const now = await textOf(this.#disk.file);
    const isStill = same(now, this.#before);
    this.#before = now;
    if (this.#closed || !isStill) return;
    const isReported = same(now, this.#reported);
    if (this.#failed !== undefined) this.#failed.looks += 1;
    if (isReported && (this.#failed === undefined || this.#failed.looks < retryLooks)) return;
    if (!isReported) this.#failed = undefined;
    this.#reported = now;
    await this.#tell(now);
  }

  async #tell(text: SeenFile): Promise<void> {
    const { file, check } = this.#disk;
    if (typeof text !== "string") {
      await this.#take(undefined);
      this.#noteWrong(text === undefined ? [] : [unreadable(file, text.error)]);
      if (text !== undefined)
        this.#log.error("settings-unreadable", { file, reason: text.error }, "the settings file cannot be read");
      else this.#log.warn("settings-gone", { file }, "the settings file is gone: the next start will use the defaults");
      return;
    }
    const { settings, findings } = await checked(check, text);
    this.#noteWrong(findings);
    if (findings.length > 0) {
      await this.#take(undefined);
      for (const finding of findings) logFinding(this.#log, finding);
      return this.#log.error(
        "settings-invalid",
        { file },
        "the settings file has errors: a restart would fail; the settings in use stay",
      );
    }
    await this.#takeOver(text, settings);
  }

  #noteWrong(findings: readonly Finding[]): void {
    this.wrong = findings.length === 0 ? undefined : { findings, since: this.wrong?.since ?? Date.now() };
  }

  async #takeOver(text: string, settings: unknown): Promise<void> {
    try {
      const taken = await this.#take(settings);
      this.#failed = undefined;
      this.#tellTaken(taken, text === this.#disk.text);
    } catch (error) {
      const [finding, ...more] = findingsOf(error);
      if (finding?.message !== this.#failed?.message) {
        for (const each of [finding, ...more]) if (each !== undefined) logFinding(this.#log, each);
        const message = "the new settings cannot be used now: those in use stay, and it is tried again";
        this.#log.error("settings-not-usable", { file: this.#disk.file }, message);
      }
      this.#failed = { message: finding?.message ?? "", looks: 0 };
    }
  }

  /** `isAsAtStart`: the file has the text with which the command started. */
  #tellTaken(taken: TakenSettings | undefined, isAsAtStart: boolean): void {
    const { file } = this.#disk;
    const log = this.#log;
    if (taken === undefined && !isAsAtStart) {
      log.warn("settings-changed", { file }, "the settings file has changed: restart to use the new settings");
      return;
    }
    const { applied = [], restart = [] } = taken ?? {};
    if (applied.length > 0) log.info("settings-applied", { file, applied }, `settings in use: ${applied.join(", ")}`);
    if (restart.length > 0)
      log.warn(
        "settings-need-restart",
        { file, restart },
        `the settings file has changed: restart to use ${restart.join(", ")}`,
      );
    if (applied.length + restart.length > 0) return;
    if (isAsAtStart) log.info("settings-as-at-start", { file }, "the settings file is as it was at the start again");
    else log.info("settings-unchanged", { file }, "the settings say what is in use");
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }
}

/** Undefined: the file does not exist. */
type SeenFile = string | undefined | { readonly error: string };

function same(one: SeenFile, other: SeenFile): boolean {
  if (typeof one !== "object" || typeof other !== "object") return one === other;
  return one.error === other.error;
}

async function textOf(file: string): Promise<SeenFile> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { error: code };
  }
}

/** Any other error, such as a program that was replaced on disk meanwhile, must not end the command. */
async function checked(check: SettingsOnDisk["check"], text: string) {
  try {
    return { settings: await check(text), findings: [] };
  } catch (error) {
    return { settings: undefined, findings: findingsOf(error) };
  }
}

function unreadable(file: string, reason: string): Finding {
  return { code: "XDSKIT_SETTINGS_INVALID", severity: "error", file, message: `it cannot be read: ${reason}` };
}

function findingsOf(error: unknown): readonly Finding[] {
  if (error instanceof XdskitError) return error.findings;
  const message = `they cannot be checked: ${messageOf(error)}`;
  return [{ code: "XDSKIT_SETTINGS_INVALID", severity: "error", message }];
}
