import type { TypeReport } from "../ledger/node-status.js";
import { detailsOf } from "./resource-entries.js";
import type { StatusEntry } from "./status-entry.js";
import { ClientResourceStatus, ConfigStatus } from "./status-values.js";
import { summaryTypeUrl, writeTypeSummary } from "./type-summary.js";

/**
 * A type as a whole, in entries without a name: the version that the client acknowledged (SYNCED), the one that is on its way (STALE), the one that is
 * to be sent (NOT_SENT), the one that it rejected (ERROR); each where there is one. Where the type is not synced, TTLs are not told or resources withheld, the first says the rest.
 * `outstanding`: how many responses the client has not answered. `withheld`: how many resources its group keeps from it for now.
 */
export function typeEntries(report: TypeReport, outstanding: number, withheld: number): readonly StatusEntry[] {
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
    add(ConfigStatus.ERROR, ClientResourceStatus.NACKED, rejected, { details: detailsOf(rejected), at, version });
  }
  const answered = [acknowledged?.version, rejected?.version];
  // What was sent last may differ from what was acknowledged with nothing on its way: the client asks for fewer names since.
  if (sent !== undefined && outstanding > 0 && !answered.includes(sent.version)) {
    add(ConfigStatus.STALE, ClientResourceStatus.UNKNOWN, sent);
  }
  const known = [...answered, sent?.version];
  if (wantedVersion !== undefined && behind > 0 && !known.includes(wantedVersion)) {
    add(ConfigStatus.NOT_SENT, ClientResourceStatus.UNKNOWN, { version: wantedVersion });
  }
  // It asked, and nothing is known of it yet.
  if (entries.length === 0) add(ConfigStatus.NOT_SENT, ClientResourceStatus.REQUESTED, { version: "" });
  const [first, ...others] = entries;
  if (first === undefined || (report.state === "synced" && report.untoldTtls + withheld === 0)) return entries;
  const content = { typeUrl: summaryTypeUrl, value: writeTypeSummary(report, withheld) };
  return [{ ...first, content }, ...others];
}
