import type { ResourceType, ResourceTypes, TypeUrl } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { StreamOptions } from "../contract/options.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import type { Content } from "./content.js";
import { mayBeWarming } from "./may-be-warming.js";
import { namesToWarm, openingsOfAll, openingsReferredTo, WarmingNames } from "./warming.js";

/**
 * Makes a stream send the resources that new and changed ones need to become warm: after a cluster its load assignment,
 * after a route configuration its virtual hosts.
 */
export class StreamWarming {
  readonly #types: ResourceTypes;
  readonly #isPerType: boolean;
  /** By type that the client does not ask for yet, the names that the resources sent so far refer to. Mostly none. */
  #names: Map<TypeUrl, WarmingNames> | undefined;
  /** True for VHDS on its own stream, requested without names: the client must be sent `openingsOfAll`. */
  #opensAll = false;

  constructor({ types, only }: StreamOptions) {
    this.#types = types;
    this.#isPerType = only !== undefined;
  }

  /** True if no name waits for the client's first request of its type. */
  get isIdle(): boolean {
    if (this.#opensAll) return false;
    if (this.#names !== undefined) for (const warming of this.#names.values()) if (!warming.isEmpty) return false;
    return true;
  }

  /** The names of a type that warm with resources sent on this stream (rule 122), until they are delivered. */
  namesOf(type: TypeUrl): NameSet {
    return this.#names?.get(type)?.names ?? NameSet.empty;
  }

  /**
   * Whether resources that an earlier stream of the client was sent may still be waiting for some of this type. The
   * snapshot may not have these any more, so it does not say for which names.
   */
  mayBeAwaited({ typeUrl }: ResourceType, asked: ReadonlyMap<TypeUrl, unknown>, { sets }: Snapshot): boolean {
    if (this.#isPerType) return false;
    for (const { type, size } of sets.values())
      if (size > 0 && type.warmedBy.includes(typeUrl) && mayBeWarming(type, asked)) return true;
    return false;
  }

  /** Handles the client's first request of a type. */
  begun(subscriber: Subscriber): void {
    const { type, subscription } = subscriber;
    if (type.absence !== "unresolved") return;
    subscriber.sent = withPending(subscriber.sent, this.namesOf(type.typeUrl));
    this.#opensAll = this.#isPerType && !subscription.wildcard && subscription.names.size === 0;
  }

  /** Called before a response of a type is made. */
  deliver(subscriber: Subscriber, snapshot: Snapshot): void {
    const { type } = subscriber;
    this.#names?.delete(type.typeUrl);
    if (this.#names?.size === 0) this.#names = undefined;
    if (!this.#opensAll || type.absence !== "unresolved") return;
    // Envoy on the wire, 7: on a VHDS stream, Envoy's first request does not say which route configurations it waits
    // for.
    this.#opensAll = false;
    for (const referring of this.#types) {
      if (!referring.warmedBy.includes(type.typeUrl)) continue;
      subscriber.sent = withPending(subscriber.sent, openingsOfAll(snapshot.of(referring), type.typeUrl));
    }
  }

  /**
   * A response brought a type to `current`: the names that warm its new and changed resources are pending from now on
   * (rules 121, 122).
   */
  sent(content: Content, current: ResourceSet, subscribers: ReadonlyMap<TypeUrl, Subscriber>): void {
    if (content.fresh.length === 0 || this.#isPerType) return;
    for (const url of current.type.warmedBy) {
      const dependent = subscribers.get(url);
      const isOpened = this.#types.byTypeUrl(url)?.type.absence === "unresolved";
      if (dependent === undefined) {
        // A reconnecting client will claim that it has them, and must get them all the same.
        const warming = this.#names?.get(url) ?? new WarmingNames(url);
        warming.add(content, current, isOpened ? "openings" : "names");
        if (!warming.isEmpty) this.#names = (this.#names ?? new Map()).set(url, warming);
      } else if (isOpened) {
        dependent.sent = withPending(dependent.sent, openingsReferredTo(content, url));
      } else if (!dependent.sent.everything) {
        dependent.sent = withPending(dependent.sent, namesToWarm(content, url, dependent.subscription));
      }
    }
  }
}
