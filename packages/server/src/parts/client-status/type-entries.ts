import type { TypeReport } from "../../contracts/nodes/node-status.js";
import { rejectionWords } from "../node-status/words.js";
import type { StatusEntry } from "./status-entry.js";
import { ClientResourceStatus, ConfigStatus } from "./status-values.js";
import { summaryTypeUrl, writeTypeSummary } from "./type-summary.js";

/**
 * A type as a whole, in entries without a name: the version that the client acknowledged (SYNCED), the one in flight
 * (STALE), the one not sent yet (NOT_SENT) and the one that it rejected (ERROR), as far as they exist. If the type is
 * not synced, or the client is not told TTLs, the first entry carries the details. `outstanding`: the number of
 * unanswered responses.
 */
export function typeEntries(report: TypeReport, outstanding: number): readonly StatusEntry[] {
  const { typeUrl, sent, acknowledged, rejected, wantedVersion, behind } = report;
  const entries: StatusEntry[] = [];
  const add = (
    configStatus: ConfigStatus,
    clientStatus: ClientResourceStatus,
    { version, at }: { readonly version: string; readonly at?: Date | undefined },
    error?: StatusEntry["error"],
  ) => entries.push({ typeUrl, name: "", version, lastUpdated: at, configStatus, clientStatus, error });

  if (acknowledged !== undefined) add(ConfigStatus.SYNCED, ClientResourceStatus.ACKED, acknowledged);
  if (rejected !== undefined) {
    const { version, at } = rejected;
    add(ConfigStatus.ERROR, ClientResourceStatus.NACKED, rejected, { details: rejectionWords(rejected), at, version });
  }
  const answered = [acknowledged?.version, rejected?.version];
  // The set sent last may differ from the acknowledged one with nothing in flight: the client asks for fewer names
  // now.
  if (sent !== undefined && outstanding > 0 && !answered.includes(sent.version)) {
    add(ConfigStatus.STALE, ClientResourceStatus.UNKNOWN, sent);
  }
  const known = [...answered, sent?.version];
  if (wantedVersion !== undefined && behind > 0 && !known.includes(wantedVersion)) {
    add(ConfigStatus.NOT_SENT, ClientResourceStatus.UNKNOWN, { version: wantedVersion });
  }
  // The client asked, and nothing else is known yet.
  if (entries.length === 0) add(ConfigStatus.NOT_SENT, ClientResourceStatus.REQUESTED, { version: "" });
  const [first, ...others] = entries;
  if (first === undefined || (report.state === "synced" && report.untoldTtls === 0)) return entries;
  const content = { typeUrl: summaryTypeUrl, value: writeTypeSummary(report) };
  return [{ ...first, content }, ...others];
}
