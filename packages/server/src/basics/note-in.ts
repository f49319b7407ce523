import { dropOldest } from "./maps.js";

/** Adds to a set that forgets the oldest of too many. False: it was there. */
export function noteIn<T>(known: Set<T>, value: T): boolean {
  if (known.has(value)) return false;
  dropOldest(known.add(value));
  return true;
}
