import type { FolderSummary } from "@xdskit/server";
import { counted } from "../output/counts.js";
import { describeFinding } from "../output/failure.js";
import type { Log } from "../output/log.js";

/** Logs what a reading of the folder came to: what was applied, or everything that kept it from being applied. */
export function logReading(log: Log, summary: FolderSummary): void {
  for (const finding of summary.findings) {
    const { severity, code, message, file, line, column, field, rule, type, resource } = finding;
    const fields = { code, file, line, column, type, resource, field, rule, message };
    // The text has it all; in JSON the fields are there for machines.
    log[severity === "error" ? "error" : "warn"]({ finding: fields }, describeFinding(finding));
  }
  const { applied, upserted, removed, files, read, durationMs } = summary;
  const fields = { upserted, removed, files, read, ms: Math.round(durationMs) };
  if (!applied) log.error(fields, "change refused: the last good configuration stays");
  else if (upserted + removed === 0) log.debug(fields, "nothing changed");
  else log.info(fields, `configuration applied: ${counted(upserted, "resource")} added or changed, ${removed} removed`);
}
