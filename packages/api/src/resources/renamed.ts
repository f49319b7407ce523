import type { ResourceName } from "../names/identifiers.js";
import { textBytes } from "../wire/wire-writer.js";
import { makeResource, type Resource } from "./resource.js";

/**
 * The same content under another name, for many resources that differ in nothing else: no message has to be made and
 * encoded again. Aliases, TTL and constraints are left out. What stands in the content stays, even if it is the name.
 *
 * Throws a TypeError if its content does not begin with its name, and XDSKIT_NAME_MISSING or XDSKIT_NAME_XDSTP as
 * `createResource` does.
 */
export function renamedResource(resource: Resource, newName: ResourceName): Resource {
  const { type, name, body, references } = resource;
  const before = textBytes(1, name);
  if (Buffer.compare(body.subarray(0, before.length), before) !== 0)
    throw new TypeError(`${type.name} "${name}" does not begin with its name`);
  return makeResource(type, newName, {}, () => {
    const begin = textBytes(1, newName);
    const renamed = new Uint8Array(begin.length + body.length - before.length);
    renamed.set(begin);
    renamed.set(body.subarray(before.length), begin.length);
    return { body: renamed, references };
  });
}
