import type { ResourceName } from "../names/identifiers.js";
import { canonicalName } from "../names/xdstp.js";
import { makeResource, type Resource } from "./resource.js";

/** One resource of all whose names have the same length: bytes at the same places differ. */
interface Sample {
  readonly resource: Resource;
  /** Where its name stands in its body. */
  readonly places: readonly number[];
  /** For each reference, whether it names the resource's own name. */
  readonly namesOwn: readonly boolean[];
}

/**
 * Makes resources that differ in nothing but their name, which may stand in them at several places: a message is made
 * and encoded once for each length of a name, and of the others the bytes of the name are replaced. Aliases, TTL and
 * constraints are left out.
 *
 * `make` may use the name only as it is, and not as the key of a map beside others: these are in the order of the keys.
 * What else it names must never be called as a resource that is made. The
 * function that this returns throws as `make` does, and a TypeError if only a part of the name stands in the content.
 */
export function resourcesAlike(make: (name: ResourceName) => Resource): (name: ResourceName) => Resource {
  /** By the length of the name. */
  const samples = new Map<number, Sample>();
  return (name) => {
    const bytes = encoder.encode(name);
    const sample = samples.get(bytes.length) ?? sampleOf(make, bytes.length);
    samples.set(bytes.length, sample);
    const { resource, places, namesOwn } = sample;
    const called = canonicalName(name);
    return makeResource(resource.type, name, {}, () => {
      const body = resource.body.slice();
      for (const place of places) body.set(bytes, place);
      const references = resource.references.map((one, index) => (namesOwn[index] ? { ...one, name: called } : one));
      return { body, references };
    });
  };
}

const encoder = new TextEncoder();

/** What differs under two names of this length is the name. Nothing is called as they are. */
function sampleOf(make: (name: ResourceName) => Resource, length: number): Sample {
  const [name, other] = ["\u0001".repeat(length), "\u0002".repeat(length)];
  const [resource, second] = [make(name), make(other)];
  const places: number[] = [];
  for (let at = 0; at < resource.body.length; at += 1) {
    if (resource.body[at] === second.body[at]) continue;
    places.push(at);
    at += length - 1;
  }
  const isWhole = (places.at(-1) ?? 0) + length <= resource.body.length;
  const replaced = resource.body.slice();
  for (const place of places) replaced.fill(other.charCodeAt(0), place, place + length);
  const namesOwn = resource.references.map((one, index) => one.name !== second.references[index]?.name);
  const areNames = resource.references.every((one, index) => !namesOwn[index] || one.name === name);
  if (!isWhole || Buffer.compare(replaced, second.body) !== 0 || !areNames || resource.name !== name)
    throw new TypeError(`${resource.type.name} has a part of its name in it`);
  return { resource, places, namesOwn };
}
