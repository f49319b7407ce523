import { canonicalName, type ResourceName, type Version } from "@xdskit/api";
import type { ReceivedResource } from "../contract/received.js";
import { Expiries, type Expiring } from "./expiries.js";

/** A held resource, and the facts known about it. */
export interface Held extends Expiring {
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
export class HeldResources {
  /** For all to read. */
  readonly resources = new Map<ResourceName, ReceivedResource>();
  readonly #held = new Map<ResourceName, Held>();
  /** Alias → name. */
  readonly #byAlias = new Map<ResourceName, ResourceName>();
  readonly #expiries = new Expiries<Held>();
  readonly #weight: RetainedWeight;

  constructor(weight: RetainedWeight) {
    this.#weight = weight;
  }

  /** The weight of all types if this resource replaced the one with its name. */
  weightWith(key: ResourceName, resource: Parameters<typeof weightOf>[0]): number {
    const before = this.#held.get(key)?.resource;
    return this.#weight.bytes + weightOf(resource) - (before === undefined ? 0 : weightOf(before));
  }

  get size(): number {
    return this.#held.size;
  }

  get(key: ResourceName): Held | undefined {
    return this.#held.get(key);
  }

  /** By its name or an alias. */
  find(key: ResourceName): Held | undefined {
    const name = this.#byAlias.get(key);
    return this.#held.get(key) ?? (name === undefined ? undefined : this.#held.get(name));
  }

  [Symbol.iterator](): Iterator<Held> {
    return this.#held.values();
  }

  set(key: ResourceName, resource: ReceivedResource, claim: Version, stream: number, now: number): void {
    const before = this.#held.get(key);
    if (before?.resource !== resource) {
      this.#weight.bytes += weightOf(resource) - (before === undefined ? 0 : weightOf(before.resource));
    }
    if (before !== undefined) this.#forgetAliases(before);
    const held = before ?? { key, resource, claim, stream, at: now, isGone: false, expires: undefined };
    // If it came again unchanged, the bytes of before are kept.
    if (held.resource.value !== resource.value) held.at = now;
    held.resource = resource;
    held.claim = claim;
    held.stream = stream;
    held.isGone = false;
    this.#held.set(key, held);
    this.resources.set(key, resource);
    for (const alias of resource.aliases) this.#byAlias.set(canonicalName(alias), key);
    this.keepAlive(held, resource.ttl, now);
  }

  /** Its time begins anew (rule 134); without a TTL it lives for ever. */
  keepAlive(held: Held, ttl: number | undefined, now: number): void {
    if (ttl === undefined) {
      this.#expiries.drop(held);
      return;
    }
    held.expires = now + ttl;
    this.#expiries.add(held);
  }

  delete(key: ResourceName): Held | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    this.resources.delete(key);
    this.#weight.bytes -= weightOf(held.resource);
    this.#forgetAliases(held);
    this.#expiries.drop(held);
    return held;
  }

  clear(): void {
    for (const key of [...this.#held.keys()]) this.delete(key);
  }

  get nextExpiry(): number | undefined {
    return this.#expiries.next;
  }

  /** Restarts the time of resources whose time is over. */
  putOff(now: number): void {
    for (const held of this.#expiries.take(now)) this.keepAlive(held, held.resource.ttl, now);
  }

  /** Removes the resources whose time is over. */
  takeExpired(now: number): readonly Held[] {
    const expired = this.#expiries.take(now);
    for (const { key } of expired) this.delete(key);
    return expired;
  }

  #forgetAliases({ key, resource }: Held): void {
    for (const alias of resource.aliases) {
      const known = canonicalName(alias);
      if (this.#byAlias.get(known) === key) this.#byAlias.delete(known);
    }
  }
}
