/** What the process ends with: it worked; it did not; it was asked for what cannot be. */
export const exitStatus = { ok: 0, failed: 1, usage: 2 } as const;
