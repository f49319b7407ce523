import { canonicalName, type ResourceName, type Version } from "@xdskit/api";
import type { ReceivedResource } from "../contract/received.js";
import { Expiries, type Expiring } from "./expiries.js";

/** A current resource, and the facts known about it. */
export interface CurrentResource extends Expiring {
  readonly key: ResourceName;
  resource: ReceivedResource;
  /** The version that the server knows; empty if no server knows one. */
  claim: Version;
  /** The number of the stream that it came on last. */
  stream: number;
  /** When its content came. */
  at: number;
  /** The server has removed it since, and it is kept. */
  isGone: boolean;
}

/** The weight of all resources of one client, in bytes as `weightOf` counts them. */
export interface RetainedWeight {
  bytes: number;
}

/** For each resource: the memory besides its content. */
const bytesOfEach = 2_048;
const bytesOfAlias = 256;

/** The approximate bytes of a resource: its content, names and version, 2,048 bytes more, and 256 for each alias. */
export function weightOf({
  name,
  version,
  aliases,
  value,
}: Pick<ReceivedResource, "name" | "version" | "aliases" | "value">): number {
  let bytes = bytesOfEach + value.byteLength + name.length + version.length;
  for (const alias of aliases) bytes += bytesOfAlias + alias.length;
  return bytes;
}

/** The resources of one type that a client holds, by canonical name, with their aliases and the ends of their lives. */
export class CurrentResources {
  /** For all to read. */
  readonly resources = new Map<ResourceName, ReceivedResource>();
  readonly #current = new Map<ResourceName, CurrentResource>();
  /** Alias → name. */
  readonly #byAlias = new Map<ResourceName, ResourceName>();
  readonly #expiries = new Expiries<CurrentResource>();
  readonly #weight: RetainedWeight;

  constructor(weight: RetainedWeight) {
    this.#weight = weight;
  }

  /** The weight of all types if this resource replaced the one with its name. */
  weightWith(key: ResourceName, resource: Parameters<typeof weightOf>[0]): number {
    const before = this.#current.get(key)?.resource;
    return this.#weight.bytes + weightOf(resource) - (before === undefined ? 0 : weightOf(before));
  }

  get size(): number {
    return this.#current.size;
  }

  get(key: ResourceName): CurrentResource | undefined {
    return this.#current.get(key);
  }

  /** By its name or an alias. */
  find(key: ResourceName): CurrentResource | undefined {
    const name = this.#byAlias.get(key);
    return this.#current.get(key) ?? (name === undefined ? undefined : this.#current.get(name));
  }

  [Symbol.iterator](): Iterator<CurrentResource> {
    return this.#current.values();
  }

  set(key: ResourceName, resource: ReceivedResource, claim: Version, stream: number, now: number): void {
    const before = this.#current.get(key);
    if (before?.resource !== resource) {
      this.#weight.bytes += weightOf(resource) - (before === undefined ? 0 : weightOf(before.resource));
    }
    if (before !== undefined) this.#forgetAliases(before);
    const one = before ?? { key, resource, claim, stream, at: now, isGone: false, expires: undefined };
    // If it came again unchanged, the bytes of before are kept.
    if (one.resource.value !== resource.value) one.at = now;
    one.resource = resource;
    one.claim = claim;
    one.stream = stream;
    one.isGone = false;
    this.#current.set(key, one);
    this.resources.set(key, resource);
    for (const alias of resource.aliases) this.#byAlias.set(canonicalName(alias), key);
    this.keepAlive(one, resource.ttl, now);
  }

  /** Its time begins anew (rule 134); without a TTL it lives for ever. */
  keepAlive(one: CurrentResource, ttl: number | undefined, now: number): void {
    if (ttl === undefined) this.#expiries.drop(one);
    else this.#expiries.set(one, now + ttl);
  }

  delete(key: ResourceName): CurrentResource | undefined {
    const one = this.#current.get(key);
    if (one === undefined) return undefined;
    this.#current.delete(key);
    this.resources.delete(key);
    this.#weight.bytes -= weightOf(one.resource);
    this.#forgetAliases(one);
    this.#expiries.drop(one);
    return one;
  }

  clear(): void {
    for (const key of [...this.#current.keys()]) this.delete(key);
  }

  get nextExpiry(): number | undefined {
    return this.#expiries.next;
  }

  /** Restarts the time of resources whose time is over. */
  putOff(now: number): void {
    for (const one of this.#expiries.take(now)) this.keepAlive(one, one.resource.ttl, now);
  }

  /** Removes the resources whose time is over. */
  takeExpired(now: number): readonly CurrentResource[] {
    const expired = this.#expiries.take(now);
    for (const { key } of expired) this.delete(key);
    return expired;
  }

  #forgetAliases({ key, resource }: CurrentResource): void {
    for (const alias of resource.aliases) {
      const known = canonicalName(alias);
      if (this.#byAlias.get(known) === key) this.#byAlias.delete(known);
    }
  }
}
