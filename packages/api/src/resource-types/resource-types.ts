import type { ApiVersion, TypeUrl } from "../identifiers.js";
import type { ResourceType, ResourceTypes } from "./resource-type.js";
import { tableOfTypes } from "./table.js";

/** The types of a table, with the ways to look one up. */
export function lookedUp(table: readonly ResourceType[]): ResourceTypes {
  const byUrl = new Map<TypeUrl, { readonly type: ResourceType; readonly api: ApiVersion }>();
  for (const type of table) {
    byUrl.set(type.typeUrl, { type, api: "v3" });
    if (type.v2TypeUrl !== undefined) byUrl.set(type.v2TypeUrl, { type, api: "v2" });
  }
  const byName = new Map(table.flatMap((type) => spellingsOf(type).map((spelling) => [spelling.toLowerCase(), type])));
  return {
    all: table,
    byTypeUrl: (url) => byUrl.get(url),
    find: (nameOrUrl) => byUrl.get(nameOrUrl)?.type ?? byName.get(nameOrUrl.toLowerCase().replaceAll("_", "-")),
    [Symbol.iterator]: () => table[Symbol.iterator](),
  };
}

/** `cluster`, `clusters`, `cds`; `_` and `-` are the same. */
export function spellingsOf(type: Pick<ResourceType, "name" | "abbreviation" | "restPath">): readonly string[] {
  const plural = type.name.endsWith("s") ? type.name : `${type.name}s`;
  return [
    type.name,
    plural,
    type.abbreviation,
    ...(type.restPath === undefined ? [] : [type.restPath.replaceAll("_", "-")]),
  ];
}

/**
 * All ten types of Envoy's xDS: LDS, RDS, SRDS, VHDS, CDS, EDS, SDS, RTDS, ECDS and LEDS; and lists of clusters and of listeners, which are
 * asked for by their names.
 */
export const resourceTypes: ResourceTypes = lookedUp(tableOfTypes);

/**
 * A type that a client asked for and that the table does not have (rule 161). It has no resources and comes after all others;
 * its name is its type URL.
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
    absenceUntoldTo: [],
    askedAgainAfter: [],
    warmedBy: [],
    acknowledgedWarm: false,
    drains: false,
    references: () => [],
  };
}
