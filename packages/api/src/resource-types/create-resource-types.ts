import { type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import type { Finding } from "../errors/errors.js";
import { throwIfAny } from "../errors/throw-if-any.js";
import { createUnpack } from "../messages/any.js";
import type { TypeUrl } from "../names/identifiers.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { referencesOf } from "../references/references.js";
import { envoyRegistry } from "../registry/registry.js";
import { nameless, textIn } from "./own-names.js";
import type { DiscoveryService, ResourceType, ResourceTypes } from "./resource-type.js";
import { lookedUp, resourceTypes, spellingsOf, unknownResourceType } from "./resource-types.js";

/** The definition of a user's own type. Each default is the behavior of most types. */
export interface OwnResourceType {
  /**
   * The message: `ThingSchema` of a generated module, or `registry.getMessage("example.Thing")` of a descriptor set.
   */
  readonly schema: DescMessage;
  /** The singular that people type: `thing`. */
  readonly name: string;
  /** Another word that people type, such as `tds`. Default: the name. */
  readonly abbreviation?: string | undefined;
  /**
   * The field with the name, as the proto spells it, or a function that reads it. Default: `name`. Without such a
   * field, resources get their names from the `envoy.service.discovery.v3.Resource` around them, or from the option
   * `name` of `createResource`.
   */
  readonly nameOf?: string | ((message: Message) => string | undefined) | undefined;
  /** Its own discovery service, if it has one. ADS serves it in any case. Omitted methods are not implemented. */
  readonly service?:
    | { readonly name: string; readonly stream?: string; readonly delta?: string; readonly fetch?: string }
    | undefined;
  /** The last part of `POST /v3/discovery:…`. Default: no REST. */
  readonly restPath?: string | undefined;
  /**
   * Whether it behaves like LDS and CDS: a first request without names asks for all resources, and a SotW response is
   * the full set, so that a missing resource was removed. Default: false, as for EDS and RDS.
   */
  readonly wildcard?: boolean | undefined;
  /**
   * The type that it is delivered right after in a change of both: one that it refers to. Default: after all others.
   */
  readonly after?: string | undefined;
}

/**
 * A table with additional resource types, for `createServer({ types })` and `readResources`. Throws
 * XDSKIT_TYPE_DEFINITION with all problems if a name or type URL is taken, the field for the name does not exist, or
 * `after` names no type.
 *
 * @example
 * ```ts
 * import { createRegistry, createResourceTypes } from "@xdskit/api";
 * import { createServer } from "@xdskit/server";
 *
 * declare const quotas: Uint8Array; // a descriptor set
 * const registry = createRegistry({ descriptorSets: [quotas] });
 * const schema = registry.getMessage("example.Quota");
 * const types = createResourceTypes(schema === undefined ? [] : [{ schema, name: "quota", nameOf: "id" }]);
 * const server = createServer({ types, registry });
 * ```
 */
export function createResourceTypes(
  own: readonly OwnResourceType[],
  base: ResourceTypes = resourceTypes,
): ResourceTypes {
  const all = [...base.all];
  const findings: Finding[] = [];
  for (const definition of own) {
    const known = lookedUp(all);
    const problems = problemsOf(definition, known);
    for (const message of problems) {
      findings.push({ code: "XDSKIT_TYPE_DEFINITION", severity: "error", message, type: definition.schema.typeName });
    }
    if (problems.length > 0) continue;
    const after = definition.after === undefined ? undefined : known.find(definition.after);
    const place = after === undefined ? all.length : all.indexOf(after) + 1;
    all.splice(place, 0, typeOfOptions(definition, between(all[place - 1], all[place])));
  }
  throwIfAny(findings);
  return lookedUp(all);
}

function problemsOf(
  { schema, name, abbreviation, nameOf, after }: OwnResourceType,
  known: ResourceTypes,
): readonly string[] {
  const problems: string[] = [];
  const url = urlOf(schema);
  if (known.byTypeUrl(url) !== undefined) problems.push(`resources of type ${url} are already known`);
  for (const word of new Set([name, abbreviation ?? name])) {
    if (word === "") problems.push("a type needs a name");
    else if (
      spellingsOf({ name: word, abbreviation: word, restPath: undefined }).some((spelling) => known.find(spelling))
    ) {
      problems.push(`there is already a type called ${JSON.stringify(word)}`);
    }
  }
  if (typeof nameOf === "string" && !hasNameField(schema, nameOf)) {
    problems.push(`the message has no field ${JSON.stringify(nameOf)} of type string to hold the name`);
  }
  if (after !== undefined && known.find(after) === undefined) {
    problems.push(`it must come after ${JSON.stringify(after)}, but there is no such type`);
  }
  return problems;
}

/** The row of a valid definition. */
export function typeOfOptions(definition: OwnResourceType, deliveryOrder: number): ResourceType {
  const { schema, name, abbreviation = name, service, restPath, wildcard = false } = definition;
  return {
    ...unknownResourceType(urlOf(schema)),
    name,
    abbreviation,
    services: { v2: undefined, v3: service === undefined ? undefined : serviceOf(service) },
    restPath,
    schema,
    nameOf: nameReader(definition),
    nameField: nameField(definition),
    emptyFirstRequest: wildcard ? "wildcard" : "nothing",
    fullState: wildcard,
    deliveryOrder,
    references: (message, unpack) => referencesOf(schema, message, unpack ?? createUnpack(envoyRegistry())),
  };
}

function serviceOf({ name, stream, delta, fetch }: NonNullable<OwnResourceType["service"]>): DiscoveryService {
  return { service: name, stream, delta, fetch };
}

function nameField({ schema, nameOf = "name" }: OwnResourceType): string | undefined {
  // A field `name` may be something other than a string.
  if (typeof nameOf === "function" || !hasNameField(schema, nameOf)) return undefined;
  return schema.fields.find(({ name }) => name === nameOf)?.localName;
}

function nameReader(definition: OwnResourceType): ResourceType["nameOf"] {
  if (typeof definition.nameOf === "function") return definition.nameOf;
  const field = nameField(definition);
  return field === undefined ? nameless : textIn(field);
}

/** Whether a message has a string field with this proto name. */
export function hasNameField(schema: DescMessage, name: string): boolean {
  const field = schema.fields.find((one) => one.name === name);
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
}

/** The URL of a message. */
export function urlOf(schema: DescMessage): TypeUrl {
  return `${typeUrlPrefix}${schema.typeName}`;
}

/** Orders are only compared, so there is always room for one more. */
function between(before: ResourceType | undefined, after: ResourceType | undefined): number {
  const low = before?.deliveryOrder ?? -1;
  return after === undefined ? low + 1 : (low + after.deliveryOrder) / 2;
}
