/** The exit statuses: success, failure, wrong usage. */
export const exitStatus = { ok: 0, failed: 1, usage: 2 } as const;
