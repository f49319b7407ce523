import type { ResourceType } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Request } from "../../wire/requests/requests.js";
import { beat, isPerishable } from "../acknowledgements/lifetimes.js";
import type { StreamEffect } from "../contract/effects.js";
import type { StreamOptions } from "../contract/options.js";
import type { OutgoingResponse } from "../contract/response.js";
import { decide, noteNewest } from "../requests/demand.js";
import { someAsk } from "../requests/unknown-types.js";
import { type ClaimedSnapshot, claimedSnapshot } from "../responses/claimed-snapshot.js";
import { drains, type Subscriber } from "../state/subscriber.js";
import type { TypeStatus } from "../state/type-status.js";
import type { Stream, StreamEvent } from "./contract.js";
import { delta } from "./delta.js";
import { nextResponse } from "./next-response.js";
import { receiveRequest } from "./receive-request.js";
import { sotw } from "./sotw.js";
import type { SotwOrDeltaRules } from "./sotw-or-delta-rules.js";
import { areInSync, statusesOf } from "./status.js";
import { StreamState } from "./stream-state.js";

/** Creates the server's end of a discovery stream, before any request. */
export function createStream(options: StreamOptions): Stream {
  return options.variant === "sotw" ? new StreamMachine(options, sotw) : new StreamMachine(options, delta);
}

/**
 * Joins the parts: requests change subscribers (`receive-request.ts`), an `Ordering` decides which changes may be sent,
 * responses are found or repeated (`next-response.ts`), and a `CohortPosition` knows which streams do the same. What
 * they share is the stream's state.
 */
class StreamMachine<Asked extends Request, Kind extends Subscriber> implements Stream {
  readonly #state: StreamState<Asked, Kind>;

  constructor(options: StreamOptions, rules: SotwOrDeltaRules<Asked, Kind>) {
    this.#state = new StreamState(options, rules);
  }

  step(event: StreamEvent, now = this.#state.now): readonly StreamEffect[] {
    const state = this.#state;
    if (state.phase.kind === "closed") return [];
    state.now = now;
    state.position.catchUp(state.subscribers);
    switch (event.kind) {
      case "request":
        return receiveRequest(state, event.bytes);
      case "heartbeat":
        for (const subscriber of state.subscribers) {
          // Most streams hold nothing with a TTL, and stay in their cohort.
          if (!isPerishable(subscriber) || !state.reports.ttl(subscriber.type)) continue;
          state.goAlone();
          beat(subscriber, event.interval);
        }
        return [];
      case "time":
        state.goAlone();
        return (state.ordering?.expire(state, now) ?? []).map((wait) => ({ kind: "wait-ended", ...wait }));
      case "snapshot":
        this.#given(event);
        return [];
      case "absent": {
        state.goAlone();
        const subscriber = state.byType.get(event.type.typeUrl);
        if (subscriber !== undefined)
          decide(subscriber, NameSet.of(event.names), event.errors ?? [], state.reports.errors);
        return [];
      }
    }
  }

  #given(event: Extract<StreamEvent, { readonly kind: "snapshot" }>): void {
    const state = this.#state;
    const { position } = state;
    if (event.snapshot !== state.claimed?.snapshot) state.claimed = undefined;
    if (state.reports.follow(event.ttl, event.resourceErrors)) {
      position.leaveAndForgetKey();
      state.goAlone();
    }
    state.follow(event.ordering);
    if (event.unknown !== state.unknown) state.goAlone();
    state.unknown = event.unknown;
    state.lineage = event.lineage;
    if (event.lineage !== undefined && position.wanted === event.snapshot) {
      if (position.inSync !== undefined) state.ordering?.target.joinLineage(event.snapshot, event.lineage);
      return;
    }
    if (!this.#setsOut(event.snapshot)) this.#take(event.snapshot);
  }

  /** Whether the stream goes to a snapshot with the others of its cohort (`CohortPosition`). */
  #setsOut(to: Snapshot): boolean {
    const { ordering, position, subscribers } = this.#state;
    const sharesOrder = ordering?.isShared === true;
    if (sharesOrder && !ordering.isInStep(this.#state, position.inSync?.snapshot, to)) {
      position.leave();
      return false;
    }
    return position.beginUpdate(to, subscribers, sharesOrder);
  }

  #take(snapshot: Snapshot): void {
    const state = this.#state;
    state.position.give(snapshot);
    if (state.claimed?.snapshot === snapshot) state.ordering?.resumed(state, state.claimed.replaced, state.now);
    for (const one of state.subscribers) if (one.undecided.names.size > 0) noteNewest(one, snapshot.of(one.type));
  }

  next(now = this.#state.now): OutgoingResponse | undefined {
    this.#state.now = now;
    return nextResponse(this.#state);
  }

  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean | undefined> {
    const { position, subscribers, rules } = this.#state;
    position.catchUp(subscribers);
    const known = new Map<ResourceType, boolean | undefined>();
    for (const subscriber of subscribers)
      if (rules.claimOf(subscriber) !== undefined)
        known.set(subscriber.type, rules.hasAll(subscriber, snapshot.of(subscriber.type)));
    return known;
  }

  claimed(known: readonly [Snapshot, ...Snapshot[]], before?: ClaimedSnapshot): ClaimedSnapshot {
    const { subscribers, rules, options } = this.#state;
    const claims = subscribers.map((subscriber) => {
      return { type: subscriber.type, subscription: subscriber.subscription, claimed: rules.claimOf(subscriber) };
    });
    const claimed = claimedSnapshot(claims, known, before, options.only === undefined);
    this.#state.claimed = claimed;
    return claimed;
  }

  get asked(): Stream["asked"] {
    return this.#state.byType;
  }

  deadline(): number | undefined {
    const { phase, position, subscribers, ordering } = this.#state;
    if (phase.kind === "closed") return undefined;
    if (position.waitsForNoTime && !subscribers.some(drains)) return undefined;
    return ordering?.deadline(this.#state);
  }

  end(): void {
    this.#state.end();
  }

  status(): readonly TypeStatus[] {
    const { position, subscribers, ordering, reports } = this.#state;
    position.catchUp(subscribers);
    return statusesOf(this.#state, position.wanted, ordering, reports);
  }

  get newest(): Snapshot | undefined {
    return this.#state.position.wanted;
  }

  isUpToDateWith(snapshot: Snapshot): boolean {
    const { position, ordering } = this.#state;
    if (position.wanted !== snapshot) return false;
    return position.inSync === undefined || ordering === undefined || ordering.target.goesAlong(position.inSync);
  }

  get isInSync(): boolean {
    const { position, subscribers, unknown, ordering } = this.#state;
    if (position.inSync !== undefined) return true;
    const { wanted } = position;
    const awaitsAnswers = (position.moving?.inFlight.length ?? 0) > 0;
    if (wanted === undefined || awaitsAnswers || someAsk(subscribers, unknown)) return false;
    return areInSync(this.#state, wanted, ordering);
  }
}
