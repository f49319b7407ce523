import { canonicalName, globOf, isGlobName, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ClientRejection, ClientTypeStatus, ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { FileContent } from "./file-content.js";

type Removal = ResourceUpdate["removed"][number];

/**
 * The wanted and the held resources of one type, between its file and the watchers. A file is the whole state of its
 * type: a name that it lacks does not exist. Reads no clock: `now` is in milliseconds and never goes back.
 */
export class FileSubscription {
  readonly #type: ResourceType;
  #wildcard = false;
  /** The written name, by canonical form. */
  readonly #asked = new Map<ResourceName, ResourceName>();
  /** The collections among them. */
  #globs = 0;
  #content: FileContent | undefined;
  /** The resources that watchers have, by canonical form. */
  readonly #held = new Map<ResourceName, ReceivedResource>();
  /** Alias → name of held resources, both in canonical form. */
  readonly #byAlias = new Map<ResourceName, ResourceName>();
  readonly #updatedAt = new Map<ResourceName, number>();
  /** Wanted names that are absent, and reported so. */
  readonly #absent = new Set<ResourceName>();
  /** When the TTL of each held resource ends. */
  readonly #expiries = new Map<ResourceName, number>();
  /** Names whose TTL is over; the file must be read again. */
  readonly #expired = new Set<ResourceName>();
  #rejection: ClientRejection | undefined;

  constructor(type: ResourceType) {
    this.#type = type;
  }

  get isIdle(): boolean {
    return !this.#wildcard && this.#asked.size === 0;
  }

  /** The last good content. */
  get content(): FileContent | undefined {
    return this.#content;
  }

  /** The resources for these names come with the next `bring`. */
  subscribe(names: readonly ResourceName[]): void {
    for (const name of names) {
      const key = canonicalName(name);
      if (name === "*") this.#wildcard = true;
      else if (!this.#asked.has(key)) {
        this.#asked.set(key, name);
        if (isGlobName(key)) this.#globs++;
      }
    }
  }

  /** Resources that were held only for these names are dropped silently. */
  unsubscribe(names: readonly ResourceName[]): void {
    const lost = new Set<ResourceName>();
    let isMany = false;
    for (const name of names) {
      const key = canonicalName(name);
      const isGlob = isGlobName(key);
      if (name === "*") this.#wildcard = false;
      else if (this.#asked.delete(key) && isGlob) this.#globs--;
      this.#absent.delete(key);
      isMany ||= isGlob || name === "*";
      lost.add(key).add(this.#byAlias.get(key) ?? key);
    }
    // Only a collection needs a look at all held resources: thousands of names are given up one by one.
    for (const key of isMany ? [...this.#held.keys()] : lost) {
      const resource = this.#held.get(key);
      if (resource !== undefined && !this.#isWanted(key, resource)) this.#forget(key);
    }
  }

  /** The watchers have exactly these resources, from elsewhere. */
  hold(resources: readonly ReceivedResource[], now: number): void {
    for (const key of [...this.#held.keys()]) this.#forget(key);
    for (const resource of resources) this.#hold(canonicalName(resource.name), resource, now);
  }

  /** A good file. Every TTL starts again. */
  take(content: FileContent, now: number): ResourceUpdate | undefined {
    this.#content = content;
    this.#rejection = undefined;
    this.#expired.clear();
    for (const [key, { ttl }] of content.resources) {
      if (ttl !== undefined && this.#held.has(key)) this.#expiries.set(key, now + ttl);
    }
    return this.bring(now);
  }

  /** Nothing is wanted, and the file is not read any more: its content is unknown. */
  forgetContent(): void {
    this.#content = undefined;
    this.#rejection = undefined;
    this.#expired.clear();
  }

  /** A bad file. The held resources stay (rule 154). */
  reject(message: string, now: number): void {
    this.#rejection = { version: this.#content?.version ?? "", message, at: now };
  }

  /** When the next TTL ends. */
  deadline(): number | undefined {
    let first: number | undefined;
    for (const expiry of this.#expiries.values()) if (first === undefined || expiry < first) first = expiry;
    return first;
  }

  /** Rule 134: resources whose TTL is over are removed. */
  expire(now: number): ResourceUpdate | undefined {
    const removed: Removal[] = [];
    for (const [key, expiry] of this.#expiries) {
      if (expiry > now) continue;
      removed.push({ name: this.#held.get(key)?.name ?? key, reason: "ttl" });
      this.#forget(key);
      this.#expired.add(key);
      if (this.#asked.has(key)) this.#absent.add(key);
    }
    return this.#update([], removed, []);
  }

  status(): ClientTypeStatus {
    return {
      type: this.#type,
      wildcard: this.#wildcard,
      names: [...this.#asked.values()],
      version: this.#content?.version,
      isWhole: this.#expired.size === 0,
      resources: new Map(this.#held),
      states: (name) => {
        const key = canonicalName(name);
        if (this.#absent.has(key)) return "absent";
        if (this.#held.has(key)) return "held";
        return this.#rejection === undefined ? "requested" : "rejected";
      },
      updatedAt: (name) => this.#updatedAt.get(canonicalName(name)),
      rejection: (name) => (name === undefined ? this.#rejection : undefined),
    };
  }

  /** The update that brings the watchers to the file's content. */
  bring(now: number): ResourceUpdate | undefined {
    const content = this.#content;
    if (content === undefined) return undefined;
    const upserted: ReceivedResource[] = [];
    const found = new Set<ResourceName>();
    for (const [key, resource] of content.resources) {
      if (this.#expired.has(key) || !this.#isWanted(key, resource)) continue;
      found.add(key);
      for (const alias of resource.aliases) found.add(canonicalName(alias));
      const before = this.#held.get(key);
      if (before === resource) continue;
      this.#hold(key, resource, now);
      if (before === undefined || !isSameResource(before, resource)) upserted.push(resource);
    }
    const removed: Removal[] = [];
    for (const [key, { name }] of this.#held) {
      if (found.has(key)) continue;
      removed.push({ name, reason: "removed" });
      this.#forget(key);
      if (this.#asked.has(key)) this.#absent.add(key);
    }
    const absent: ResourceUpdate["absent"][number][] = [];
    for (const [key, name] of this.#asked) {
      if (found.has(key)) this.#absent.delete(key);
      else if (!this.#absent.has(key) && !isGlobName(key)) {
        this.#absent.add(key);
        absent.push({ name, reason: "told", error: undefined });
      }
    }
    return this.#update(upserted, removed, absent);
  }

  #isWanted(key: ResourceName, { aliases }: ReceivedResource): boolean {
    if (this.#wildcard || this.#asked.has(key)) return true;
    const glob = this.#globs === 0 ? undefined : globOf(key);
    if (glob !== undefined && this.#asked.has(glob)) return true;
    return aliases.some((alias) => this.#asked.has(canonicalName(alias)));
  }

  #hold(key: ResourceName, resource: ReceivedResource, now: number): void {
    this.#forgetAliases(key);
    this.#held.set(key, resource);
    for (const alias of resource.aliases) this.#byAlias.set(canonicalName(alias), key);
    this.#updatedAt.set(key, now);
    if (resource.ttl === undefined) this.#expiries.delete(key);
    else this.#expiries.set(key, now + resource.ttl);
  }

  #forgetAliases(key: ResourceName): void {
    for (const alias of (this.#held.get(key)?.aliases ?? []).map(canonicalName)) {
      if (this.#byAlias.get(alias) === key) this.#byAlias.delete(alias);
    }
  }

  #forget(key: ResourceName): void {
    this.#forgetAliases(key);
    this.#held.delete(key);
    this.#updatedAt.delete(key);
    this.#expiries.delete(key);
  }

  #update(
    upserted: readonly ReceivedResource[],
    removed: readonly Removal[],
    absent: ResourceUpdate["absent"],
  ): ResourceUpdate | undefined {
    if (upserted.length === 0 && removed.length === 0 && absent.length === 0) return undefined;
    return { type: this.#type, upserted, removed, absent, failing: [] };
  }
}

/** Equal content, wherever it came from. */
function isSameResource(before: ReceivedResource, after: ReceivedResource): boolean {
  if (Buffer.compare(before.value, after.value) !== 0) {
    try {
      return before.resource().version === after.resource().version;
    } catch {
      return false;
    }
  }
  return before.aliases.join() === after.aliases.join() && before.ttl === after.ttl;
}
