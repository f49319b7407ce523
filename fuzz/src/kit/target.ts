import type fc from "fast-check";

/** Something that takes input from outside, and the properties that must hold for every input. */
export interface FuzzTarget {
  /** Its name on the command line. */
  readonly name: string;
  /** The number of inputs that the suite tries. */
  readonly suiteRuns: number;
  /** Makes the parts that many inputs share. */
  open(): Promise<FuzzSession>;
}

/** A target while it is tried. */
export interface FuzzSession {
  readonly property: fc.IAsyncPropertyWithHooks<[unknown]>;
  /** Checks the properties that must hold after all inputs together. */
  finish(): Promise<void>;
  close(): Promise<void>;
  /** Shows an input to a person. */
  show(input: unknown): string;
}
