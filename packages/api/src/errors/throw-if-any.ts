import { type Finding, XdskitError } from "./errors.js";

/** Throws an XdskitError with the findings, if there are any. */
export function throwIfAny([first, ...rest]: readonly Finding[]): void {
  if (first !== undefined) throw new XdskitError([first, ...rest]);
}
