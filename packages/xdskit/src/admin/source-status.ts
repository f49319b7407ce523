import type { Finding } from "@xdskit/api";
import type { AdoptedFile, FolderSummary, SkippedCounts } from "@xdskit/server";

/** What is known of any source. */
export interface AnySourceStatus {
  readonly name: string;
  /** Each kind of source has its own. */
  readonly state: string;
  readonly findings: readonly Finding[];
  /** What went wrong last with an origin, however long ago. */
  readonly lastError?: { readonly at: string; readonly message: string } | null;
  /** How many resources have errors and are skipped; of a source that skips nothing, null or left out. */
  readonly skipped?: SkippedCounts | null;
  /** ISO 8601; null before the first time. */
  readonly lastApplied: string | null;
}

/** What `/api/v1/sources` tells about a folder. */
export interface SourceStatus extends AnySourceStatus {
  /**
   * `pending`: nothing was read yet. `partial`: what has errors is skipped (`on_invalid: skip`), or, at the start with `--allow-partial`,
   * the files without errors are served.
   * `refused`: the last good configuration is served, or nothing where `lastApplied` is null. `findings` say why.
   */
  readonly state: "pending" | "applied" | "partial" | "refused";
  readonly directory: string;
  /** Resource files that are there now. */
  readonly files: number;
  /** What is served now: by layer (folder), then by type. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What was taken of files that are of another form than resources: of a bootstrap, a config dump. */
  readonly adopted: readonly AdoptedFile[];
  readonly lastRead: string | null;
}

/** The status of a folder that was not read yet. */
export function pendingSource(name: string, directory: string): SourceStatus {
  const nothing = {
    files: 0,
    resources: {},
    findings: [],
    adopted: [],
    skipped: null,
    lastRead: null,
    lastApplied: null,
  };
  return { name, state: "pending", directory, ...nothing };
}

/** The status after one more reading. */
export function sourceAfter(before: SourceStatus, summary: FolderSummary, now: Date): SourceStatus {
  const time = now.toISOString();
  const resources = Object.fromEntries(
    Array.from(summary.resources, ([layer, counts]) => [layer, Object.fromEntries(counts)] as const),
  );
  return {
    ...before,
    state: stateOf(summary),
    files: summary.files,
    resources,
    findings: summary.findings,
    adopted: summary.adopted,
    skipped: summary.skipped ?? null,
    lastRead: time,
    lastApplied: summary.applied ? time : before.lastApplied,
  };
}

function stateOf({ applied, findings }: FolderSummary): SourceStatus["state"] {
  if (!applied) return "refused";
  return findings.some(({ severity }) => severity === "error") ? "partial" : "applied";
}
