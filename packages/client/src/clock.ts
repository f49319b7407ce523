/** What time is taken from, so that tests can set it. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls a function once, after so many milliseconds; returns what stops it. Keeps no process alive. */
  after(milliseconds: number, call: () => void): () => void;
}
