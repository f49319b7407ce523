/**
 * The paces of everything that uses a store. They are the same everywhere, so that one number says how soon a server
 * goes on after a store was away.
 */

/** How long after a failure a store is read again, in milliseconds. */
export const readAgainMs = 1_000;

/** How long after a failed write it is tried again, in milliseconds. */
export const writeAgainMs = 5_000;

/** A server that says nothing to the store for this long is taken for dead, in milliseconds. */
export const sessionMs = 6_000;

/** How often another server of the store may be faster, before a change is given up. */
export const maxConflicts = 30;
