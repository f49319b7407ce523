/**
 * The time between two looks at files whose changes nobody reports, in milliseconds: those of a network file system,
 * settings, certificates. A look costs some metadata, or a small file.
 */
export const lookMs = 2_000;
