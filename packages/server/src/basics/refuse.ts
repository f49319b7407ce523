import { type Finding, XdskitError } from "@xdskit/api";

/** Throws the findings, if there are any. */
export function refuse([first, ...rest]: readonly Finding[]): void {
  if (first !== undefined) throw new XdskitError([first, ...rest]);
}
