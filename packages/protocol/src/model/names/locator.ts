import { canonicalName, type ResourceName } from "@xdskit/api";

/*
 * A name and a client's dynamic parameters (`ResourceLocator`, xRFC TP2) as one name, so that subscriptions, claims and
 * pending names need to know nothing of parameters; only a lookup does. The separators are high surrogates in a row,
 * which no text from the wire can hold.
 */
const separator = "\ud800\ud800";
const between = "\ud801\ud801";

/** A client's dynamic parameters, behind a name: empty for none. */
export type Parameters = string;

/** A name with dynamic parameters, in whatever order they came. */
export function locatorOf(name: ResourceName, parameters: ReadonlyMap<string, string>): ResourceName {
  return `${canonicalName(name)}${writeParameters(parameters)}`;
}

/** Parameters in the order of their keys. */
export function writeParameters(parameters: ReadonlyMap<string, string>): Parameters {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, value]) => `${separator}${key}${between}${value}`).join("");
}

/** Tells whether a name has dynamic parameters. */
export function isLocator(name: ResourceName): boolean {
  return name.includes(separator);
}

/** A name without its dynamic parameters. */
export function nameOf(name: ResourceName): ResourceName {
  const end = name.indexOf(separator);
  return end < 0 ? name : name.slice(0, end);
}

/** The dynamic parameters of a name. */
export function parametersOf(name: ResourceName): Parameters {
  const end = name.indexOf(separator);
  return end < 0 ? "" : name.slice(end);
}

/** Parameters by key. */
export function readParameters(parameters: Parameters): ReadonlyMap<string, string> {
  if (parameters === "") return none;
  return new Map(
    parameters
      .slice(separator.length)
      .split(separator)
      .map((pair) => pair.split(between) as [string, string]),
  );
}

const none: ReadonlyMap<string, string> = new Map();
