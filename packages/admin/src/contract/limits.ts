/** Bytes of a body. */
export const mostBodyBytes = 64 * 1024 * 1024;
/** Of one in YAML, which takes much longer to read: about a second for so much. */
export const mostYamlBytes = 4 * 1024 * 1024;
/** So many bodies are read at once. */
export const mostBodies = 8;
/** Resources in one change. */
export const mostResources = 200_000;
/** Items of one page, and how many come if nobody says. */
export const mostPage = 10_000;
export const usualPage = 1_000;
