import { readFile } from "node:fs/promises";
import { type Finding, XdskitError } from "@xdskit/api";
import { lookMs } from "@xdskit/api/disk";
import type { Log } from "../output/log.js";
import type { SettingsOnDisk } from "../settings/load-settings.js";
import { logFinding } from "./logs/source-log.js";

/** Settings that could not be taken over are tried again after so many looks. */
const retryLooks = 5;

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
 * Returns a function that ends it.
 */
export function watchSettings(
  disk: SettingsOnDisk | undefined,
  log: Log,
  take: TakeSettings = () => undefined,
  everyMs = lookMs,
): () => Promise<void> {
  if (disk === undefined) return async () => {};
  const { file, text: used, check } = disk;
  let before: Seen = used;
  let told: Seen = used;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let looking: Promise<void> = Promise.resolve();
  /** Why the newest settings could not be taken over, and how many looks ago. */
  let failed: { readonly message: string; looks: number } | undefined;

  async function tell(text: Seen): Promise<void> {
    if (typeof text !== "string") {
      await take(undefined);
      if (text !== undefined) log.error({ file, reason: text.error }, "the settings file cannot be read");
      else log.warn({ file }, "the settings file is gone: the next start will use the defaults");
      return;
    }
    const { settings, findings } = await checked(check, text);
    if (findings.length > 0) {
      await take(undefined);
      for (const finding of findings) logFinding(log, finding);
      return log.error({ file }, "the settings file has errors: a restart would fail; the settings in use stay");
    }
    await takeOver(text, settings);
  }

  async function takeOver(text: string, settings: unknown): Promise<void> {
    try {
      const taken = await take(settings);
      failed = undefined;
      if (taken === undefined && text !== used)
        return log.warn({ file }, "the settings file has changed: restart to use the new settings");
      const { applied = [], restart = [] } = taken ?? {};
      if (applied.length > 0) log.info({ file, applied }, `settings in use: ${applied.join(", ")}`);
      if (restart.length > 0)
        log.warn({ file, restart }, `the settings file has changed: restart to use ${restart.join(", ")}`);
      if (applied.length + restart.length === 0 && text === used)
        log.info({ file }, "the settings file is as it was at the start again");
      else if (applied.length + restart.length === 0) log.info({ file }, "the settings say what is in use");
    } catch (error) {
      const [finding, ...more] = findingsOf(error);
      if (finding?.message !== failed?.message) {
        for (const each of [finding, ...more]) if (each !== undefined) logFinding(log, each);
        log.error({ file }, "the new settings cannot be used now: those in use stay, and it is tried again");
      }
      failed = { message: finding?.message ?? "", looks: 0 };
    }
  }

  async function look(): Promise<void> {
    const now = await textOf(file);
    const isStill = same(now, before);
    before = now;
    if (closed || !isStill) return;
    const isTold = same(now, told);
    if (failed !== undefined) failed.looks += 1;
    if (isTold && (failed === undefined || failed.looks < retryLooks)) return;
    if (!isTold) failed = undefined;
    told = now;
    await tell(now);
  }

  function lookLater(): void {
    timer = setTimeout(() => {
      looking = look().finally(() => !closed && lookLater());
    }, everyMs).unref();
  }

  lookLater();
  return async () => {
    closed = true;
    clearTimeout(timer);
    await looking;
  };
}

/** Undefined: the file does not exist. */
type Seen = string | undefined | { readonly error: string };

function same(one: Seen, other: Seen): boolean {
  if (typeof one !== "object" || typeof other !== "object") return one === other;
  return one.error === other.error;
}

async function textOf(file: string): Promise<Seen> {
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

function findingsOf(error: unknown): readonly Finding[] {
  if (error instanceof XdskitError) return error.findings;
  const message = `they cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
  return [{ code: "XDSKIT_SETTINGS_INVALID", severity: "error", message }];
}
