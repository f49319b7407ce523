/** The error that a compiled reader throws when it gives up. All share one, since nobody looks at its stack. */
class Doubt extends Error {}

const doubt = new Doubt("left to the reader that explains");

/** Gives up: the value may be wrong, or is so rare that the explaining reader may have it. */
export function giveUp(): never {
  throw doubt;
}

/** Whether a thrown value means that a compiled reader gave up. */
export function isDoubt(error: unknown): boolean {
  return error === doubt;
}
