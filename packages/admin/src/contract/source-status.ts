import type { AdoptedFile, FolderSummary, SkippedCounts } from "@xdskit/server";
import type { SourceReport } from "./admin-options.js";

/** The status of any source. */
export interface AnySourceStatus extends SourceReport {
  /** How many resources are skipped for their errors; null or missing for a source that skips nothing. */
  readonly skipped?: SkippedCounts | null;
  /** ISO 8601; null before the first time. */
  readonly lastApplied: string | null;
}

/** The answer of `/api/v1/sources` about a folder. */
export interface SourceStatus extends AnySourceStatus {
  /**
   * `pending`: nothing was read yet. `partial`: resources with errors are skipped (`on_invalid: skip`), or, at the
   * start with `--allow-partial`, the files without errors are served. `refused`: the last good configuration is
   * served, or nothing where `lastApplied` is null. `findings` say why.
   */
  readonly state: "pending" | "applied" | "partial" | "refused";
  readonly directory: string;
  /** The number of resource files now. */
  readonly files: number;
  /** The served resources: by layer (folder), then by type. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The resources taken from files of another form: a bootstrap, a config dump. */
  readonly adopted: readonly AdoptedFile[];
  readonly lastRead: string | null;
}

/** The status of a folder before the first read. */
export function pendingSource(name: string, directory: string): SourceStatus {
  const nothing = {
    files: 0,
    resources: {},
    findings: [],
    adopted: [],
    skipped: null,
    restored: null,
    rolledBack: null,
    lastRead: null,
    lastApplied: null,
  };
  return { name, state: "pending", directory, ...nothing };
}

/** The status after one more read. */
export function sourceAfter(before: SourceStatus, summary: FolderSummary, now: Date): SourceStatus {
  const time = now.toISOString();
  const resources = Object.fromEntries(
    Array.from(summary.resources, ([layer, counts]) => [layer, Object.fromEntries(counts)] as const),
  );
  return {
    ...before,
    state: folderState(before, summary),
    files: summary.files,
    resources,
    findings: summary.findings,
    adopted: summary.adopted,
    skipped: summary.skipped ?? null,
    restored: summary.applied ? null : (before.restored ?? null),
    lastRead: time,
    lastApplied: summary.applied ? time : before.lastApplied,
  };
}

/** Whether files with errors were left out at the start, and are since: no change is applied until they are fixed. */
export function leavesOutFiles({ state, skipped }: Pick<AnySourceStatus, "state" | "skipped">): boolean {
  return state === "partial" && skipped == null;
}

function folderState(before: SourceStatus, { applied, findings }: FolderSummary): SourceStatus["state"] {
  if (!applied) return leavesOutFiles(before) ? "partial" : "refused";
  return findings.some(({ severity }) => severity === "error") ? "partial" : "applied";
}

/** The skipped resources in words; undefined if there are none. */
export function skippedText(skipped: SkippedCounts | null | undefined): string | undefined {
  const { lastGood = 0, absent = 0 } = skipped ?? {};
  const count = lastGood + absent;
  if (count === 0) return undefined;
  const what = count === 1 ? "resource" : "resources";
  return `${count} ${what} skipped for errors: ${lastGood} with the last good content, ${absent} not served`;
}
