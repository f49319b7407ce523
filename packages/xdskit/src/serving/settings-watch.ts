import { readFile } from "node:fs/promises";
import { type Finding, XdskitError } from "@xdskit/api";
import type { Log } from "../output/log.js";
import type { SettingsOnDisk } from "../settings/load-settings.js";
import { logFinding } from "./logs/source-log.js";

/** Settings rarely change. A look costs one small file, and works on every file system. Milliseconds. */
const lookMs = 2_000;

/**
 * Follows the settings file of a running command, which reads settings only at its start. For each edit it says once
 * that a restart is needed, or what is wrong. Two looks in a row must find the same text, so that a half-written file
 * is not reported. Returns a function that ends it.
 */
export function watchSettings(disk: SettingsOnDisk | undefined, log: Log, everyMs = lookMs): () => Promise<void> {
  if (disk === undefined) return async () => {};
  const { file, text: used, check } = disk;
  let before: Seen = used;
  let told: Seen = used;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function tell(text: Seen): Promise<void> {
    if (text === used) return log.info({ file }, "the settings file is as it was at the start again");
    if (text === undefined)
      return log.warn({ file }, "the settings file is gone: the next start will use the defaults");
    if (typeof text === "object") return log.error({ file, reason: text.error }, "the settings file cannot be read");
    const findings = await settingsFindings(check, text);
    if (findings.length === 0)
      return log.warn({ file }, "the settings file has changed: restart to use the new settings");
    for (const finding of findings) logFinding(log, finding);
    return log.error(
      { file },
      "the settings file has errors: a restart would fail; the settings of the start stay in use",
    );
  }

  async function look(): Promise<void> {
    const now = await textOf(file);
    const isStill = same(now, before);
    before = now;
    if (closed || !isStill || same(now, told)) return;
    told = now;
    await tell(now);
  }

  function lookLater(): void {
    timer = setTimeout(() => void look().finally(() => !closed && lookLater()), everyMs).unref();
  }

  lookLater();
  return async () => {
    closed = true;
    clearTimeout(timer);
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
async function settingsFindings(check: SettingsOnDisk["check"], text: string): Promise<readonly Finding[]> {
  try {
    await check(text);
    return [];
  } catch (error) {
    if (error instanceof XdskitError) return error.findings;
    const message = `they cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
    return [{ code: "XDSKIT_SETTINGS_INVALID", severity: "error", message }];
  }
}
