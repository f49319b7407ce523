/** The exit statuses: success, failure, wrong usage, and there are differences (`diff`, `apply --dry-run`). */
export const exitStatus = { ok: 0, failed: 1, usage: 2, differs: 3 } as const;
