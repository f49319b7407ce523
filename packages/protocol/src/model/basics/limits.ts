/*
 * The bounds that were chosen by hand and that no option sets, in one place. Each stops a peer, which chooses names and
 * texts, from filling the memory. The usual ones are in `@xdskit/api`: `maxKept`, `maxNamesKept`, `maxFindings`.
 * Limits that options set are in `server/contract/limits.ts` and `client/contract/limits.ts`.
 */

/**
 * Bytes of each text of a node, except its metadata, and characters of versions and of type URLs that no table has.
 * They go to logs, pages and metrics; real ones stay below half.
 */
export const longestText = 512;
/** Characters that are kept of an `error_detail`, and of a resource error's message. Envoy sends no more. */
export const longestErrorText = 4_096;
/** Dynamic parameters of a resource locator, and their characters: they are kept with every name. */
export const maxLocatorParameters = { count: 64, characters: 8_192 };
/** Runs of repeated fields whose values are remembered: how many, and their bytes in total. */
export const maxKnownRuns = { count: 16, bytes: 4 * 1024 * 1024 };
/**
 * What hardly ever has more than two, so that each is tried or compared: rejections of one client in a row, ends that a
 * name in a text may have.
 */
export const maxAlternatives = 8;
/**
 * Recorded transitions from one response or change: how clients rejected, acknowledged or followed it, and which
 * listeners it replaced. Only clients that keep blaming different resources, answering in new orders, or asking for
 * other listeners by name make more.
 */
export const maxTransitions = 100;
/**
 * Results of one object, by key, that are remembered for all streams. Only clients that keep asking, answering or
 * rejecting in new ways make more.
 */
export const maxShared = 2_000;
/** Characters of such a key that clients make longer: hardly any other client then has the same. */
export const longestKey = 4_000;

/** The number of times that a client asks anew for a name that the server may think it has. */
export const maxRepeats = 3;
/** Characters of the rejections of one type that a client remembers. */
export const rejectionCharacters = 4 * 1024 * 1024;
/** Reasons of one bad resource that a client reports, and the characters of each. */
export const rejectionReasons = { count: 5, characters: 500 };
/** Aliases that the resources of one response get: a small response could otherwise fill the memory. */
export const maxAliases = 1_000_000;
