/** What a compiled reader throws for everything that it does not read itself. Made once: nobody asks where it comes from. */
class Doubt extends Error {}

const doubt = new Doubt("left to the reader that explains");

/** Gives up: what is there may be wrong, or is so rare that the reader which explains mistakes may have it. */
export function giveUp(): never {
  throw doubt;
}

/** Whether something that was thrown means that a compiled reader gave up. */
export function isDoubt(error: unknown): boolean {
  return error === doubt;
}
