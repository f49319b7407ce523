import { AuditLog, appendTo } from "@xdskit/admin/access";
import type { Log } from "@xdskit/admin/log";
import type { Terminal } from "../output/terminal.js";
import { type LoadedSettings, pathFromSettings } from "../settings/load-settings.js";
import type { Settings } from "../settings/schema.js";
import type { TakenSettings } from "./settings-watch.js";

/** `failed`: what was served stays. */
export type EditResult = "done" | "failed";

/** Called with the first files of an edit of the folder. */
export type NoteFiles = (files: readonly string[], result: EditResult) => void;

export function editOfFiles(files: readonly string[], result: EditResult) {
  return edit("the folder", "files", files, result);
}

/** Undefined: nothing became different. */
export function editOfSettings(taken: TakenSettings | undefined, result: EditResult) {
  const keys = [...(taken?.applied ?? []), ...(taken?.restart ?? []).map((key) => `${key} (needs a restart)`)];
  return result === "failed" || keys.length > 0 ? edit("the settings file", "settings", keys, result) : undefined;
}

/** Nobody knows who made it. */
function edit(who: string, action: "files" | "settings", of: readonly string[], result: EditResult) {
  return { who, rule: null, from: "file", action, target: of.join(", ") || "not used", result };
}

/** The audit that the settings ask for; undefined: nothing is noted. */
export function openAudit(
  loaded: LoadedSettings<Pick<Settings, "audit">>,
  terminal: Terminal,
  log: Log,
): AuditLog | undefined {
  const { audit } = loaded.settings;
  if (audit === undefined) return undefined;
  const file = audit === "stderr" ? undefined : pathFromSettings(loaded, audit.file);
  return new AuditLog({
    file,
    append: file === undefined ? async (text) => terminal.err(text) : appendTo(file),
    failing: (reason) =>
      reason === undefined
        ? log.info("audit-resumed", { file }, "the audit is written again")
        : log.error(
            "audit-failed",
            { file, reason },
            "the audit cannot be written: its lines wait, and the server goes on",
          ),
  });
}
