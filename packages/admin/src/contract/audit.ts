/** One line of the audit. Nothing in it is secret. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly time: string;
  /** Who proved it; `anybody` where there are no roles, and null where nobody was known. */
  readonly who: string | null;
  /** The rule that let it in; null: there was none. */
  readonly rule: string | null;
  /** The address that it came from; `unix` over a Unix socket. */
  readonly from: string;
  /** Such as `change`, `rollback`, `rollout halt`, `settings`, `files`. */
  readonly action: string;
  /** What it was about: a path of the API, keys of the settings, or files. */
  readonly target: string;
  /** `refused`: the caller might not. `failed`: it was let in, and nothing was done. */
  readonly result: "done" | "refused" | "failed";
  /** HTTP's. */
  readonly status?: number | undefined;
  /** How many lines are missing before this one. */
  readonly lost?: number | undefined;
}

/** What an entry may say that somebody did. `?` is a request that nothing answers. */
export const auditActions = [
  "change",
  "delete",
  "rollback",
  "lease renew",
  "lease end",
  "quarantine lift",
  "rollout promote",
  "rollout resume",
  "rollout roll-back",
  "rollout halt",
  "rollout ?",
  "settings",
  "files",
  "login",
  "call",
  "read",
  "?",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Which entries are asked for. */
export interface AuditQuery {
  /** Globs. Left out: all. */
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly result?: AuditEntry["result"] | undefined;
}

/** An audit that can be read. */
export interface AuditReader {
  /** The newest entries, the newest first; undefined: they are not kept where they could be read. */
  newest(
    query: AuditQuery,
    limit: number,
  ): Promise<{ readonly entries: readonly AuditEntry[]; readonly isWhole: boolean } | undefined>;
}
