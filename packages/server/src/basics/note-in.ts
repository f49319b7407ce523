import { dropOldest } from "./maps.js";

/** Adds to a set of at most so many, of which the oldest goes. False: it was there. */
export function noteIn<T>(known: Set<T>, value: T, most: number): boolean {
  if (known.has(value)) return false;
  dropOldest(known.add(value), most);
  return true;
}
