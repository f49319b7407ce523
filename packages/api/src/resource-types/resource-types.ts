import type { ApiVersion, TypeUrl } from "../names/identifiers.js";
import type { ResourceType, ResourceTypes } from "./resource-type.js";
import { tableOfTypes } from "./table.js";

/** A table of types, with look-ups. */
export function lookedUp(table: readonly ResourceType[]): ResourceTypes {
  const byUrl = new Map<TypeUrl, { readonly type: ResourceType; readonly api: ApiVersion }>();
  for (const type of table) {
    byUrl.set(type.typeUrl, { type, api: "v3" });
    if (type.v2TypeUrl !== undefined) byUrl.set(type.v2TypeUrl, { type, api: "v2" });
  }
  const byName = new Map(table.map((type) => [type.name, type]));
  const byWord = typesByWord(table);
  return {
    all: table,
    byTypeUrl: (url) => byUrl.get(url),
    find: (nameOrUrl) => byUrl.get(nameOrUrl)?.type ?? byName.get(nameOrUrl) ?? byWord.get(wordOf(nameOrUrl)),
    [Symbol.iterator]: () => table[Symbol.iterator](),
  };
}

/**
 * A name takes precedence over an abbreviation or a plural of another type: `pkg.Services` may be a type beside
 * `pkg.Service`.
 */
function typesByWord(table: readonly ResourceType[]): ReadonlyMap<string, ResourceType> {
  const byWord = new Map<string, ResourceType>();
  const spelled = table.flatMap((type) => spellingsOf(type).map((spelling, rank) => ({ spelling, rank, type })));
  for (const { spelling, type } of spelled.sort((a, b) => a.rank - b.rank)) {
    const word = wordOf(spelling);
    if (!byWord.has(word)) byWord.set(word, type);
  }
  return byWord;
}

/** Case does not matter, and `_` equals `-`. */
function wordOf(spelling: string): string {
  return spelling.toLowerCase().replaceAll("_", "-");
}

/**
 * `cluster`, `cds`, the REST path, `clusters`: in order of precedence, and each kind is entered for all types before
 * the next.
 */
export function spellingsOf(type: Pick<ResourceType, "name" | "abbreviation" | "restPath">): readonly string[] {
  const plural = type.name.endsWith("s") ? type.name : `${type.name}s`;
  return [type.name, type.abbreviation, type.restPath ?? type.name, plural];
}

/**
 * All ten types of Envoy's xDS: LDS, RDS, SRDS, VHDS, CDS, EDS, SDS, RTDS, ECDS and LEDS; and the list collections of
 * endpoints, clusters and listeners, which are requested by name.
 */
export const resourceTypes: ResourceTypes = lookedUp(tableOfTypes);

/** The name of a type for people: `cluster`; its type URL if the table lacks it. */
export function typeNameIn(types: Pick<ResourceTypes, "byTypeUrl">, typeUrl: TypeUrl): string {
  return types.byTypeUrl(typeUrl)?.type.name ?? typeUrl;
}

/**
 * A type that a client requested and that the table lacks (rule 161). It has no resources and comes after all others.
 * Its name is its type URL.
 */
export function unknownResourceType(typeUrl: TypeUrl): ResourceType {
  return {
    name: typeUrl,
    abbreviation: typeUrl,
    typeUrl,
    v2TypeUrl: undefined,
    services: { v3: undefined, v2: undefined },
    restPath: undefined,
    schema: undefined,
    nameOf: () => undefined,
    emptyFirstRequest: "nothing",
    fullState: false,
    deliveryOrder: Number.MAX_SAFE_INTEGER,
    absence: "removed",
    absenceUnreportedTo: [],
    askedAgainAfter: [],
    warmedBy: [],
    acknowledgedWarm: false,
    drains: false,
    references: () => [],
  };
}
