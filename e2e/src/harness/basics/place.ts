/** A machine of its own for a part of a test, or this one. */
export interface Place {
  /** The address of what listens there. */
  readonly host: string;
  /** How a program is started there. */
  run(command: string, args: readonly string[]): Invocation;
  /** Undefined: it cannot be cut off. */
  readonly link?: Link;
}

/** A program and its arguments. */
export interface Invocation {
  readonly command: string;
  readonly args: readonly string[];
}

/** What connects a place with all others. Both resolve when it is done. */
export interface Link {
  /** From now on nothing goes in or out: packets are lost, and nobody is told. */
  cut(): Promise<void>;
  join(): Promise<void>;
}

/** Loopback. */
export const here: Place = { host: "127.0.0.1", run: (command, args) => ({ command, args }) };
