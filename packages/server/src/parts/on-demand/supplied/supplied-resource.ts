import { type Finding, messageOf, type Resource, type ResourceName, type ResourceType, XdskitError } from "@xdskit/api";
import { type ConfigResourceOptions, toResource } from "../../../configuration/create-config.js";
import { suppliedNames } from "./supplied-set.js";

/**
 * Checks a supplier's result for a name: programs without types can return anything. Throws an XdskitError unless it is
 * a valid message or resource of this type and name.
 */
export function suppliedResource(
  given: unknown,
  type: ResourceType,
  name: ResourceName,
  options: ConfigResourceOptions,
): Resource {
  const resource = toResource(given as Resource, options);
  const where = { type: type.name, resource: name };
  const unsuitable = (message: string) => XdskitError.of("XDSKIT_ON_DEMAND_UNSUITABLE", message, where);
  if (!isWhole(resource))
    throw unsuitable("what was supplied only looks like a resource: make it with `createResource`");
  if (resource.type.typeUrl !== type.typeUrl) throw unsuitable(`a ${cut(resource.type.name)} was supplied`);
  if (suppliedNames(resource).includes(name)) return resource;
  throw unsuitable(`what was supplied is named ${JSON.stringify(cut(resource.name))}, and that is none of its aliases`);
}

/** The type demands it, but a program without types may ignore that. */
function isWhole({ type, name, key, version, body, aliases, references }: Resource): boolean {
  return (
    typeof type?.typeUrl === "string" &&
    [name, key, version].every((text) => typeof text === "string" && text !== "") &&
    body instanceof Uint8Array &&
    Array.isArray(aliases) &&
    aliases.every((alias) => typeof alias === "string") &&
    Array.isArray(references)
  );
}

/** A supplier's error as findings of an event: never the stack, and at most some hundred characters. */
export function supplyFindings(error: unknown, type: ResourceType, name: ResourceName): readonly Finding[] {
  if (error instanceof XdskitError) return error.findings;
  const where = { type: type.name, resource: name };
  return XdskitError.of("XDSKIT_ON_DEMAND_FAILED", `the supplier failed: ${cut(textOf(error))}`, where).findings;
}

function textOf(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return "with something that has no text";
  }
}

function cut(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

/** What is wrong with a resource that cannot be seen: a layer has another one of its name, without the alias. */
export function hiddenFindings(
  { name }: Resource,
  asked: { readonly type: ResourceType; readonly name: ResourceName },
): readonly Finding[] {
  const where = { type: asked.type.name, resource: asked.name };
  const message = `a layer has another resource of the name that was supplied, ${JSON.stringify(name)}`;
  return XdskitError.of("XDSKIT_ON_DEMAND_UNSUITABLE", message, where).findings;
}
