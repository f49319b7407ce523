import { AuditLog, appendTo } from "@xdskit/admin/access";
import type { Log } from "@xdskit/admin/log";
import type { Terminal } from "../output/terminal.js";
import { type LoadedSettings, pathFromSettings } from "../settings/load-settings.js";
import type { Settings } from "../settings/schema.js";

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
