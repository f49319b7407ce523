/** The times of a run, in milliseconds. */
export interface Bounds {
  /** How long a response may take that must come. */
  readonly answerMs: number;
  /** How long nothing may come where nothing must. */
  readonly quietMs: number;
  /** A check that takes longer has failed. */
  readonly checkMs: number;
  /** What has not been checked after this time has failed. */
  readonly totalMs: number;
}

export const defaultBounds: Bounds = { answerMs: 5_000, quietMs: 300, checkMs: 30_000, totalMs: 300_000 };

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
