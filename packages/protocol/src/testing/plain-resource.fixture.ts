import { canonicalName, type Resource, type ResourceType } from "@xdskit/api";

/** A row of the table of types, for tests that do not look into resources. */
export function plainType(name: string, more: Partial<ResourceType> = {}): ResourceType {
  return {
    name,
    abbreviation: name,
    typeUrl: `type.googleapis.com/test.${name}`,
    v2TypeUrl: undefined,
    services: { v2: undefined, v3: undefined },
    restPath: undefined,
    schema: undefined,
    nameOf: () => undefined,
    emptyFirstRequest: "nothing",
    fullState: false,
    deliveryOrder: 1,
    absence: "removed",
    absenceUnreportedTo: [],
    askedAgainAfter: [],
    warmedBy: [],
    acknowledgedWarm: false,
    drains: false,
    references: () => [],
    ...more,
  };
}

/** A resource whose version is given. */
export function plainResource(
  type: ResourceType,
  name: string,
  version: string,
  aliases: readonly string[] = [],
  ttl?: number,
): Resource {
  const body = new TextEncoder().encode(version);
  const key = canonicalName(name);
  return { type, name, key, version, aliases, variant: undefined, body, ttl, references: [] };
}
