import {
  noSuchType,
  type Registry,
  type ResourceType,
  type ResourceTypes,
  typesByUrl,
  typesOfMessages,
  XdskitError,
} from "@xdskit/api";
import type { WatchOptions } from "./watch-options.js";

/** The subscription to one type. */
export interface Wanted {
  readonly type: ResourceType;
  readonly names: ReadonlySet<string>;
}

/** All subscriptions, with their types and messages. */
export interface AllWanted {
  readonly types: ResourceTypes;
  readonly registry: Registry;
  /** That of `--type` first. */
  readonly wanted: readonly [Wanted, ...Wanted[]];
}

/** Reads `--type`, NAME … and `--also`. Throws an XdskitError for an unknown type. */
export function readWanted({ type, names, also = [] }: WatchOptions, registry: Registry): AllWanted {
  const asked = [{ type, names: [...names] }, ...also.map(readAlso)];
  // A type URL is a type even if the table lacks it.
  const urls = asked.map((one) => one.type).filter((text) => text.includes("/"));
  const types = typesByUrl(urls, registry, typesOfMessages(registry));
  const wanted = new Map<ResourceType, Set<string>>();
  for (const one of asked) {
    const found = typeNamed(one.type, types);
    const known = wanted.get(found) ?? new Set();
    wanted.set(found, known);
    for (const name of one.names.length === 0 ? ["*"] : one.names) known.add(name);
  }
  const [first, ...more] = Array.from(wanted, ([type, names]) => ({ type, names }));
  if (first === undefined) throw new Error("no type was asked for");
  return { types, registry, wanted: [first, ...more] };
}

/** `TYPE=NAME,…`; `TYPE`, `TYPE=` and `TYPE=*` are the wildcard. */
function readAlso(text: string): { readonly type: string; readonly names: readonly string[] } {
  const equals = text.indexOf("=");
  if (equals < 0) return { type: text, names: [] };
  const names = text.slice(equals + 1).split(",");
  return { type: text.slice(0, equals), names: names.filter((name) => name !== "") };
}

function typeNamed(text: string, types: ResourceTypes): ResourceType {
  const type = types.find(text);
  if (type !== undefined) return type;
  throw XdskitError.of(
    "XDSKIT_TYPE_NAME_UNKNOWN",
    `${noSuchType(text, types)} (without --type the first word is the type)`,
  );
}
