import { canonicalName, isGlobName, type ResourceName, type ResourceType, type Version } from "@xdskit/api";
import { equalBytes } from "../wire/basics/equal-bytes.js";
import { WantedNames, wildcard } from "./asked/wanted-names.js";
import type { ClientRejection, ClientTypeStatus, ResourceUpdate } from "./contract/contract.js";
import type { ReceivedResource } from "./contract/received.js";
import { CurrentResources } from "./current/current-resources.js";
import { UpdateDraft } from "./current/update-draft.js";

/** The whole state of one type, as one file has it. */
export interface FileContent {
  /** The file's `version_info`. */
  readonly version: Version;
  /** By name in canonical form. */
  readonly resources: ReadonlyMap<ResourceName, ReceivedResource>;
}

/**
 * The wanted and the current resources of one type, between its file and the watchers. A file is the whole state of its
 * type: a name that it lacks does not exist. Reads no clock: `now` is in milliseconds and never goes back.
 */
export class FileSubscription {
  readonly #type: ResourceType;
  /** A name is `absent` once that was reported. */
  readonly #wanted = new WantedNames();
  readonly #current = new CurrentResources({ bytes: 0 });
  #content: FileContent | undefined;
  /** Names whose TTL is over; the file must be read again. */
  readonly #expired = new Set<ResourceName>();
  #rejection: ClientRejection | undefined;

  constructor(type: ResourceType) {
    this.#type = type;
  }

  get isIdle(): boolean {
    return this.#wanted.size === 0;
  }

  /** The last good content. */
  get content(): FileContent | undefined {
    return this.#content;
  }

  /** The resources for these names come with the next `bring`. */
  subscribe(names: readonly ResourceName[]): void {
    for (const name of names) this.#wanted.add(name, "requested");
  }

  /** Resources that were there only for these names are dropped silently. */
  unsubscribe(names: readonly ResourceName[]): void {
    const keys = names.map(canonicalName);
    for (const key of keys) this.#wanted.delete(key);
    // Only a collection needs a look at all current resources: thousands of names are given up one by one.
    const isMany = keys.some((key) => key === wildcard || isGlobName(key));
    for (const one of isMany ? [...this.#current] : keys.map((key) => this.#current.find(key))) {
      if (one !== undefined && !this.#wanted.covers(one.key, one.resource.aliases)) this.#current.delete(one.key);
    }
  }

  /** The watchers have exactly these resources, from elsewhere. */
  hold(resources: readonly ReceivedResource[], now: number): void {
    this.#current.clear();
    for (const resource of resources) this.#hold(canonicalName(resource.name), resource, now);
  }

  /** A good file. Every TTL starts again. */
  take(content: FileContent, now: number): ResourceUpdate | undefined {
    this.#content = content;
    this.#rejection = undefined;
    this.#expired.clear();
    for (const [key, { ttl }] of content.resources) {
      const one = ttl === undefined ? undefined : this.#current.get(key);
      if (one !== undefined) this.#current.keepAlive(one, ttl, now);
    }
    return this.bring(now);
  }

  /** Nothing is wanted, and the file is not read any more: its content is unknown. */
  forgetContent(): void {
    this.#content = undefined;
    this.#rejection = undefined;
    this.#expired.clear();
  }

  /** A bad file. The current resources stay (rule 154). */
  reject(message: string, now: number): void {
    this.#rejection = { version: this.#content?.version ?? "", message, at: now };
  }

  /** When the next TTL ends, or earlier. */
  deadline(): number | undefined {
    return this.#current.nextExpiry;
  }

  /** Rule 134: resources whose TTL is over are removed. */
  expire(now: number): ResourceUpdate | undefined {
    const draft = new UpdateDraft(this.#type);
    for (const { key, resource } of this.#current.takeExpired(now)) {
      draft.remove(key, resource.name, "ttl");
      this.#expired.add(key);
      this.#wanted.is(key, "absent");
    }
    return draft.finish();
  }

  status(): ClientTypeStatus {
    return {
      type: this.#type,
      wildcard: this.#wanted.isWildcard,
      names: this.#wanted.asked(),
      version: this.#content?.version,
      isWhole: this.#expired.size === 0,
      resources: new Map(this.#current.resources),
      states: (name) => {
        const key = canonicalName(name);
        if (this.#wanted.stateOf(key) === "absent") return "absent";
        if (this.#current.get(key) !== undefined) return "current";
        return this.#rejection === undefined ? "requested" : "rejected";
      },
      updatedAt: (name) => this.#current.get(canonicalName(name))?.at,
      rejection: (name) => (name === undefined ? this.#rejection : undefined),
    };
  }

  /** The update that brings the watchers to the file's content. */
  bring(now: number): ResourceUpdate | undefined {
    if (this.#content === undefined) return undefined;
    const draft = new UpdateDraft(this.#type);
    const found = new Set<ResourceName>();
    for (const [key, resource] of this.#content.resources) {
      if (this.#expired.has(key) || !this.#wanted.covers(key, resource.aliases)) continue;
      found.add(key);
      for (const alias of resource.aliases) found.add(canonicalName(alias));
      const before = this.#current.get(key)?.resource;
      if (before === resource) continue;
      this.#hold(key, resource, now);
      if (before === undefined || !isSameResource(before, resource)) draft.upsert(key, resource);
    }
    for (const { key, resource } of [...this.#current]) {
      if (found.has(key)) continue;
      draft.remove(key, resource.name, "removed");
      this.#current.delete(key);
      this.#wanted.is(key, "absent");
    }
    for (const key of this.#wanted.keys()) {
      if (found.has(key)) this.#wanted.is(key, "requested");
      else if (key !== wildcard && !isGlobName(key) && this.#wanted.is(key, "absent"))
        draft.absent(key, this.#wanted.spelled(key), "told");
    }
    return draft.finish();
  }

  #hold(key: ResourceName, resource: ReceivedResource, now: number): void {
    this.#current.set(key, resource, "", 0, now);
  }
}

/** Equal content, wherever it came from. */
function isSameResource(before: ReceivedResource, after: ReceivedResource): boolean {
  const { length } = after.value;
  if (before.value.length !== length || !equalBytes(before.value, 0, after.value, 0, length)) {
    try {
      return before.resource().version === after.resource().version;
    } catch {
      return false;
    }
  }
  return before.aliases.join() === after.aliases.join() && before.ttl === after.ttl;
}
