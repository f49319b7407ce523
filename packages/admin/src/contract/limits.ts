import { maxBody } from "@xdskit/api";

/** Bytes of a body in YAML, which takes much longer to read: about a second for this much. */
export const maxYamlBytes = 4 * 1024 * 1024;
/** Bytes of all bodies whose requests are not answered yet: four of the largest. */
export const maxRetainedBytes = 4 * maxBody;
/** How long any body may take, and how much longer for each MiB that has come. */
export const bodyGraceMs = 10_000;
export const bodyMsPerMib = 1_000;
/** Resources in one change. */
export const maxResources = 200_000;
/** Items of one page. */
export const maxPage = 10_000;
/** Items of one page if nobody says how many. */
export const usualPage = 1_000;
/** Names in each list of a stage, at most. */
export const maxNames = 1_000_000;
/** Entries of a list that has no pages. */
export const maxInList = 200;
/** Names, or findings, in one entry of a list. */
export const maxInEntry = 20;
