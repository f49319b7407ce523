import type { ResourceTypes, TypeUrl } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/resource-set.js";
import type { Snapshot } from "../../model/snapshot.js";
import type { StreamOptions } from "../contract/options.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import type { Content } from "./content.js";
import { namesToWarm, openingsOfAll, openingsReferredTo, WarmingNames } from "./warming.js";

/**
 * Has a stream send what its client's new and changed resources need to become warm: after a cluster its load
 * assignment, after a route configuration its virtual hosts.
 */
export class StreamWarming {
  readonly #types: ResourceTypes;
  readonly #isPerType: boolean;
  /** By type that the client does not ask for yet: the names that resources sent so far refer to. */
  readonly #names = new Map<TypeUrl, WarmingNames>();
  /** VHDS on a stream of its own, asked for without names: to be told what `openingsOfAll` says. */
  #opensAll = false;

  constructor({ types, only }: StreamOptions) {
    this.#types = types;
    this.#isPerType = only !== undefined;
  }

  /** Nothing waits to be sent once the client asks for it. */
  get isIdle(): boolean {
    if (this.#opensAll) return false;
    for (const warming of this.#names.values()) if (!warming.isEmpty) return false;
    return true;
  }

  /**
   * The names of a type that resources sent on this stream refer to and that warm with them (rule 122), until they were
   * delivered.
   */
  namesOf(type: TypeUrl): NameSet {
    return this.#names.get(type)?.names ?? NameSet.empty;
  }

  /** The client asks for a type for the first time. */
  begun(subscriber: Subscriber): void {
    const { type, subscription } = subscriber;
    if (type.absence !== "unresolved") return;
    subscriber.sent = withPending(subscriber.sent, this.namesOf(type.typeUrl));
    this.#opensAll = this.#isPerType && !subscription.wildcard && subscription.names.size === 0;
  }

  /** A response of a type is about to be made. */
  deliver(subscriber: Subscriber, snapshot: Snapshot): void {
    const { type } = subscriber;
    this.#names.delete(type.typeUrl);
    if (!this.#opensAll || type.absence !== "unresolved") return;
    // Envoy on the wire, 7: its first request on a stream of their own does not say whose virtual hosts it waits for.
    this.#opensAll = false;
    for (const referring of this.#types) {
      if (!referring.warmedBy.includes(type.typeUrl)) continue;
      subscriber.sent = withPending(subscriber.sent, openingsOfAll(snapshot.of(referring), type.typeUrl));
    }
  }

  /**
   * A response was sent that brings a type to `current`: what warms its new and changed resources is pending from now
   * on (rules 121, 122).
   */
  sent(content: Content, current: ResourceSet, subscribers: ReadonlyMap<TypeUrl, Subscriber>): void {
    if (content.fresh.length === 0 || this.#isPerType) return;
    for (const url of current.type.warmedBy) {
      const dependent = subscribers.get(url);
      const isOpened = this.#types.byTypeUrl(url)?.type.absence === "unresolved";
      if (dependent === undefined) {
        // A reconnecting client will claim to have them; it must get them all the same.
        const warming = this.#names.get(url) ?? new WarmingNames(url);
        this.#names.set(url, warming);
        warming.add(content, current, isOpened ? "openings" : "names");
      } else if (isOpened) {
        dependent.sent = withPending(dependent.sent, openingsReferredTo(content, url));
      } else if (!dependent.sent.everything) {
        dependent.sent = withPending(dependent.sent, namesToWarm(content, url, dependent.subscription));
      }
    }
  }
}
