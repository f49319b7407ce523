import type fc from "fast-check";

/** Something that takes input from outside, and what must hold whatever the input is. */
export interface FuzzTarget {
  /** As it is named on the command line. */
  readonly name: string;
  /** How many inputs the suite tries. */
  readonly suiteRuns: number;
  /** Makes what is needed once for many inputs. */
  open(): Promise<FuzzSession>;
}

/** A target while it is tried. */
export interface FuzzSession {
  readonly property: fc.IAsyncPropertyWithHooks<[unknown]>;
  /** What must hold after all inputs together. */
  finish(): Promise<void>;
  close(): Promise<void>;
  /** How an input is shown to a person. */
  show(input: unknown): string;
}
