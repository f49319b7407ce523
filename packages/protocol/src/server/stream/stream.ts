import type { ResourceType, TypeUrl } from "@xdskit/api";
import { MalformedMessage, TooManyFields } from "@xdskit/api/wire";
import { clientKindOf } from "../../model/basics/client-kind.js";
import type { Node } from "../../model/basics/node.js";
import { NameSet } from "../../model/names/name-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { wholeStage } from "../../planning/make-before-break.js";
import type { StatusCode } from "../../wire/basics/status-code.js";
import { statusCode } from "../../wire/basics/status-code.js";
import { nodeLengthOf, nodeOf, type Request } from "../../wire/requests/requests.js";
import { beat, isPerishable } from "../acknowledgements/lifetimes.js";
import { change, type RecordedTransition, SettledCohort } from "../cohorts/cohort.js";
import { CohortPlace } from "../cohorts/cohort-place.js";
import { acknowledgeRecorded, usuallyAnswered } from "../cohorts/sending.js";
import type { StreamEffect } from "../contract/effects.js";
import type { StreamOptions } from "../contract/options.js";
import type { OutgoingResponse } from "../contract/response.js";
import type { OrderedStream } from "../ordering/ordered-stream.js";
import type { Ordering } from "../ordering/ordering.js";
import { usedBy } from "../ordering/shared-stage.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import { anotherNode, isAnotherNode } from "../requests/another-node.js";
import { decide, demandedOf, noteNewest } from "../requests/demand.js";
import { ForeignAuthorities } from "../requests/foreign-authorities.js";
import { beyondNode, beyondPending, beyondRequest, beyondStream, beyondTypes } from "../requests/request-limits.js";
import { requestedType } from "../requests/requested-type.js";
import { asksForUnknown, someAsk, type UnknownTypes } from "../requests/unknown-types.js";
import { type HeldSnapshot, heldSnapshot } from "../responses/held-snapshot.js";
import { StreamWarming } from "../responses/stream-warming.js";
import { Told } from "../responses/told.js";
import { drains, inOrder, newSubscriber, type Subscriber, someHaveDrained } from "../state/subscriber.js";
import type { TypeStatus } from "../state/type-status.js";
import type { Stream, StreamEvent } from "./contract.js";
import { Delivery } from "./delivery.js";
import { delta } from "./delta.js";
import { KeptMemory } from "./kept-memory.js";
import { sotw } from "./sotw.js";
import type { SotwOrDeltaRules, Surroundings } from "./sotw-or-delta-rules.js";
import { areSettled, statusesOf } from "./status.js";

/** Creates the server's end of a discovery stream, before any request. */
export function createStream(options: StreamOptions): Stream {
  return options.variant === "sotw" ? new StreamMachine(options, sotw) : new StreamMachine(options, delta);
}

/** The phase of a stream: before its first request, served, or ended. */
type Phase =
  | { readonly kind: "new" }
  | { readonly kind: "identified"; readonly node: Node }
  | { readonly kind: "closed" };

/**
 * Joins the parts: requests change subscribers, an `Ordering` decides which changes may be sent, `Delivery` makes
 * responses, and a `CohortPlace` knows which streams do the same.
 */
class StreamMachine<Asked extends Request, Kind extends Subscriber> implements Stream, OrderedStream {
  readonly #options: StreamOptions;
  readonly #rules: SotwOrDeltaRules<Asked, Kind>;
  readonly #surroundings: Surroundings;
  readonly #byType = new Map<TypeUrl, Kind>();
  /** The subscribers in delivery order (rules 117–119), whatever the order of the requests. */
  #ordered: Kind[] = [];
  readonly #warming: StreamWarming;
  #phase: Phase = { kind: "new" };
  #lineage: SnapshotLineage | undefined;
  /** The resources that the client came back with, as they were put together last, until it has another target. */
  #held: HeldSnapshot | undefined;
  /** The snapshot of the current pass, once a response of it went out; undefined between passes. See `Stream`. */
  #begun: Snapshot | undefined;
  readonly #told: Told;
  readonly #kept: KeptMemory;
  /** The last time that the machine was told, in milliseconds. */
  #now = 0;
  #ordering: Ordering | undefined;
  #unknown: UnknownTypes;
  readonly #foreign: ForeignAuthorities;
  readonly #place = new CohortPlace();
  readonly #delivery: Delivery<Asked, Kind>;

  constructor(options: StreamOptions, rules: SotwOrDeltaRules<Asked, Kind>) {
    this.#options = options;
    this.#rules = rules;
    this.#told = new Told(options);
    this.#kept = new KeptMemory(options.heldMemory);
    this.#foreign = new ForeignAuthorities(options.authorities);
    this.#warming = new StreamWarming(options);
    this.#surroundings = {
      api: options.api,
      tellsTtl: ({ type }) => this.#told.ttl(type),
      sentBefore: (subscriber) =>
        subscriber.type.askedAgainAfter.some(
          (url) => lastContentCountOf(this.#byType.get(url)) > lastContentCountOf(subscriber),
        ),
      warming: (subscriber) => {
        const { type, subscription } = subscriber;
        const { wanted } = this.#place;
        const isAwaited = wanted !== undefined && this.#warming.mayBeAwaited(type, this.#byType, wanted);
        if (!isAwaited) return this.#warming.namesOf(type.typeUrl);
        const awaited = this.#held?.snapshot === wanted ? this.#held.awaited.get(type.typeUrl) : undefined;
        return awaited ?? subscription.names;
      },
      sendsUnmeantWildcard: () => this.#phase.kind === "identified" && clientKindOf(this.#phase.node) === "envoy",
      claimsDropped: (claimed) => void this.#kept.change(claimed, undefined),
    };
    this.#delivery = new Delivery(rules, {
      options,
      told: this.#told,
      warming: this.#warming,
      place: this.#place,
      subscribers: this.#byType,
      surroundings: this.#surroundings,
    });
  }

  step(event: StreamEvent, now = this.#now): readonly StreamEffect[] {
    if (this.#phase.kind === "closed") return [];
    this.#now = now;
    switch (event.kind) {
      case "request":
        return this.#usual(event.bytes) ?? this.#receive(event.bytes);
      case "heartbeat":
        for (const subscriber of this.#ordered) {
          // Most streams hold nothing with a TTL, and stay in their cohort.
          if (!isPerishable(subscriber) || !this.#told.ttl(subscriber.type)) continue;
          this.#leaveCohort();
          beat(subscriber, event.interval);
        }
        return [];
      case "time":
        this.#leaveCohort();
        return (this.#ordering?.expire(this, this.#now) ?? []).map((wait) => ({ kind: "wait-ended", ...wait }));
      case "snapshot":
        if (event.snapshot !== this.#held?.snapshot) this.#held = undefined;
        if (this.#told.follow(event.ttl, event.resourceErrors)) {
          this.#place.changed();
          this.#leaveCohort();
        }
        this.#follow(event.ordering);
        if (event.unknown !== this.#unknown) this.#leaveCohort();
        this.#unknown = event.unknown;
        this.#lineage = event.lineage;
        if (event.lineage !== undefined && this.#place.wanted === event.snapshot) {
          if (this.#place.settled !== undefined) this.#ordering?.joinLineage(event.snapshot, event.lineage);
          return [];
        }
        if (!this.#setsOut(event.snapshot)) this.#take(event.snapshot);
        return [];
      case "absent": {
        this.#leaveCohort();
        const subscriber = this.#byType.get(event.type.typeUrl);
        if (subscriber !== undefined)
          decide(subscriber, NameSet.of(event.names), event.errors ?? [], this.#told.errors);
        return [];
      }
    }
  }

  #follow(ordering: Ordering | undefined): void {
    if (ordering === this.#ordering) return;
    this.#place.changed();
    this.#ordering?.leave(this);
    this.#ordering = ordering;
    ordering?.join(this);
    if (this.#ordered.some((one) => this.#rules.saidOf(one) !== undefined)) ordering?.cameBack(this.#now);
  }

  /** Whether the stream goes to a snapshot with the others of its cohort (`CohortPlace`). */
  #setsOut(to: Snapshot): boolean {
    const ordering = this.#ordering;
    const sharesOrder = ordering?.isShared === true;
    if (sharesOrder && !ordering.isInStep(this, this.#place.settled?.snapshot, to)) {
      this.#place.leave();
      return false;
    }
    return this.#place.beginUpdate(to, this.#ordered, sharesOrder);
  }

  /**
   * Leaves the cohort because of an event that the cohort does not share, and that other streams of the order may have
   * to consider.
   */
  #leaveCohort(): void {
    this.#place.leave();
    this.#ordering?.leaveCohorts();
  }

  #take(snapshot: Snapshot): void {
    this.#place.give(snapshot);
    if (this.#held?.snapshot === snapshot) this.#ordering?.resumed(this, this.#held.replaced, this.#now);
    for (const one of this.#ordered) if (one.undecided.names.size > 0) noteNewest(one, snapshot.of(one.type));
  }

  next(now = this.#now): OutgoingResponse | undefined {
    this.#now = now;
    if (this.#phase.kind !== "identified" || this.#place.isIdle) return undefined;
    const { wanted, moving } = this.#place;
    if (wanted === undefined) return undefined;
    if (moving !== undefined && someHaveDrained(this.#ordered, now)) this.#leaveCohort();
    else if (moving?.next !== undefined) return this.#repeat(moving.next, wanted);
    return this.#find(wanted, this.#phase.node);
  }

  /**
   * Works out the next response for this stream. It is a separate method, since inside `next` V8 would take three times
   * as long to optimize that.
   */
  #find(wanted: Snapshot, node: Node): OutgoingResponse | undefined {
    const snapshot = this.#begun ?? wanted;
    const ordering = this.#ordering;
    // A type that moves on without a response counts as acknowledged, which may let another type go on. So there is at
    // most one round for each type.
    for (let round = 0; round <= this.#ordered.length; round++) {
      const stage = ordering?.stageOf(this, snapshot, this.#now) ?? wholeStage;
      // From now on, the other streams of its order matter.
      if (stage !== wholeStage && ordering?.isShared === true) this.#leaveCohort();
      this.#place.noteStage(stage);
      let moved: Kind[] | undefined;
      for (const subscriber of this.#ordered) {
        if (asksForUnknown(subscriber, this.#unknown)) continue;
        const target = ordering?.targetOf(subscriber, stage, snapshot, this.#now) ?? snapshot.of(subscriber.type);
        const waiting = stage.waiting.get(subscriber.type.typeUrl);
        const {
          used: { set: usedSet },
        } = subscriber;
        const course = { target, waiting, snapshot, node, now: this.#now };
        const response = this.#delivery.bring(subscriber, course) ?? this.#delivery.heartbeat(subscriber, this.#now);
        if (response === undefined) {
          if (subscriber.used.set !== usedSet) moved = [...(moved ?? []), subscriber];
          continue;
        }
        if (!response.isHeartbeat) this.#begun = snapshot;
        // Names that wait for the first request of their type are this stream's own: a repetition would lack them.
        if (!this.#warming.isIdle) this.#place.leave();
        if (this.#place.moving !== undefined) {
          this.#place.recordSent(this.#ordered, this.#ordered.indexOf(subscriber));
        }
        return response;
      }
      if (ordering === undefined || moved === undefined) break;
      for (const { type } of moved) ordering.progressed(this, type);
      if (stage === wholeStage) break;
    }
    this.#begun = undefined;
    if (snapshot !== wanted) return this.next();
    this.#settle();
    return undefined;
  }

  /** Repeats another stream of the cohort, and returns the response that it sent, if any. */
  #repeat(transition: RecordedTransition, wanted: Snapshot): OutgoingResponse | undefined {
    const { sends, changes, stage } = transition;
    const { moving } = this.#place;
    const update = moving?.update;
    if (moving === update?.start && update !== undefined) {
      this.#ordering?.begin(wanted, update.orderAtStart, this.#lineage);
    }
    change(this.#ordered, changes);
    this.#ordering?.repeat(this, stage, wanted, sends?.index, this.#now);
    this.#place.moved(transition);
    this.#begun = sends && wanted;
    return sends && this.#delivery.repeat(this.#ordered[sends.index] as Kind, sends, this.#now);
  }

  /** There is nothing to send: settles the stream if it may, or records that its cohort waits. */
  #settle(): void {
    const [phase, wanted, ordering] = [this.#phase, this.#place.wanted, this.#ordering];
    if (phase.kind !== "identified" || wanted === undefined || this.#begun !== undefined) return;
    if (this.#told.errors || !this.#warming.isIdle || someAsk(this.#ordered, this.#unknown)) {
      this.#place.leave();
      return;
    }
    const maySettle = ordering?.maySettle(this) !== false;
    if (!maySettle && this.#place.moving === undefined) return;
    this.#place.recordNothing(this.#ordered, maySettle, {
      needed: (subscriber) => ordering?.meanwhile(this, subscriber, wanted) ?? wanted.of(subscriber.type),
      options: this.#options,
      told: this.#told,
      node: phase.node,
      isOrdered: ordering !== undefined,
      sharesOrder: ordering?.isShared === true,
      lineage: this.#lineage,
    });
  }

  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean | undefined> {
    const known = new Map<ResourceType, boolean | undefined>();
    for (const subscriber of this.#ordered)
      if (this.#rules.saidOf(subscriber) !== undefined)
        known.set(subscriber.type, this.#rules.hasAll(subscriber, snapshot.of(subscriber.type)));
    return known;
  }

  held(known: readonly [Snapshot, ...Snapshot[]], before?: HeldSnapshot): HeldSnapshot {
    const claims = this.#ordered.map((subscriber) => {
      return { type: subscriber.type, subscription: subscriber.subscription, claimed: this.#rules.saidOf(subscriber) };
    });
    this.#held = heldSnapshot(claims, known, before, this.#options.only === undefined);
    return this.#held;
  }

  get asked(): Pick<ReadonlyMap<TypeUrl, unknown>, "has" | "size"> {
    return this.#byType;
  }

  get subscribers(): readonly Subscriber[] {
    return this.#ordered;
  }

  mayGoOn(): void {
    this.#options.mayGoOn?.();
  }

  leaveCohort(): void {
    this.#place.changed();
  }

  overtaken(): void {
    if (this.#place.moving !== undefined) this.#place.leave();
  }

  isBetween(from: Snapshot, to: Snapshot): boolean {
    return this.#place.isBetween(from, to);
  }

  deadline(): number | undefined {
    if (this.#phase.kind === "closed") return undefined;
    if (this.#place.waitsForNoTime && !this.#ordered.some(drains)) return undefined;
    return this.#ordering?.deadline(this);
  }

  end(): void {
    for (const subscriber of this.#ordered) {
      this.#kept.change(subscriber.subscription.names, undefined);
      this.#kept.change(this.#rules.claimsOf(subscriber), undefined);
    }
    this.#kept.end(this.#phase.kind === "identified" ? this.#phase.node : undefined);
    this.#phase = { kind: "closed" };
    this.#place.give(undefined);
    // Others of the order take over what drains.
    this.#ordering?.leave(this);
    this.#byType.clear();
    this.#ordered = [];
    this.#lineage = undefined;
    this.#held = undefined;
    this.#begun = undefined;
  }

  /** Counts everything that the stream keeps of a request; returns the reason if that is too much. */
  #countKept(subscriber: Kind, isNew: boolean, namesBefore: NameSet): string | undefined {
    const { type, subscription, sent } = subscriber;
    // Everything is counted before anything is refused, because `end` takes back everything.
    const claims = isNew ? this.#kept.change(undefined, this.#rules.claimsOf(subscriber)) : undefined;
    const names = this.#kept.change(namesBefore, subscription.names);
    const pending = this.#kept.changePending(type.typeUrl, sent.pending);
    return pending ?? names ?? claims;
  }

  status(): readonly TypeStatus[] {
    return statusesOf(this, this.#place.wanted, this.#ordering, this.#told);
  }

  get newest(): Snapshot | undefined {
    return this.#place.wanted;
  }

  isUpToDateWith(snapshot: Snapshot): boolean {
    if (this.#place.wanted !== snapshot) return false;
    return this.#place.settled === undefined || this.#ordering?.goesAlong !== false;
  }

  get isSettled(): boolean {
    if (this.#place.settled !== undefined) return true;
    const { wanted } = this.#place;
    const awaitsAnswers = (this.#place.moving?.inFlight.length ?? 0) > 0;
    if (wanted === undefined || awaitsAnswers || someAsk(this.#ordered, this.#unknown)) return false;
    return areSettled(this, wanted, this.#ordering);
  }

  /**
   * Takes an acknowledgement of a recorded response without decoding it, if its bytes equal an earlier one except for
   * nonce, version and node.
   */
  #usual(bytes: Uint8Array): readonly StreamEffect[] | undefined {
    const { moving } = this.#place;
    const recorded = moving && usuallyAnswered(moving, this.#ordered, bytes);
    if (recorded === undefined) return undefined;
    const subscriber = this.#ordered[recorded.index] as Kind;
    const { draining } = subscriber;
    const before = subscriber.type.drains ? usedBy(subscriber) : [];
    this.#rules.noteUsual(subscriber);
    const effects = acknowledgeRecorded(recorded, subscriber, this.#now);
    if (subscriber.type.drains) this.#ordering?.usesChanged(subscriber, before, this.#now);
    // Drain times are this client's own, and matter to the other streams of its order.
    if (subscriber.draining !== draining) this.#leaveCohort();
    else {
      this.#place.acknowledged(recorded);
      // If nothing is due after the last answer, the stream settles at once.
      const next = this.#place.moving?.next;
      if (next?.to instanceof SettledCohort && this.#place.wanted !== undefined) this.#repeat(next, this.#place.wanted);
    }
    return isPerishable(subscriber) ? this.#withUntold(subscriber, effects) : effects;
  }

  /** Adds to the effects of an acknowledgement, once for each type, that the client is not told TTLs. */
  #withUntold(subscriber: Kind, effects: readonly StreamEffect[]): readonly StreamEffect[] {
    const resources = this.#told.noteUntold(subscriber);
    return resources === 0 ? effects : [...effects, { kind: "ttl-untold", type: subscriber.type, resources }];
  }

  #receive(bytes: Uint8Array): readonly StreamEffect[] {
    this.#place.leave();
    try {
      const { namesPerRequest, namesPerStream } = this.#options.limits;
      const request = this.#rules.read(bytes, { names: namesPerRequest, claims: namesPerStream });
      if (this.#phase.kind === "new") return this.#identify(bytes, request);
      const first = this.#phase.kind === "identified" && this.#options.isNodeFixed ? this.#phase.node : undefined;
      if (first !== undefined && isAnotherNode(first, nodeOf(bytes, request)))
        return this.#close(statusCode.permissionDenied, anotherNode);
      const told = this.#subscribe(request);
      const [only] = told;
      // The other streams go on alone, unless this was a plain acknowledgement after which nothing drains.
      if (told.length !== 1 || only?.kind !== "acknowledged" || this.#ordered.some(drains))
        this.#ordering?.leaveCohorts();
      if (only?.kind !== "acknowledged") return told;
      const subscriber = this.#byType.get(only.type.typeUrl);
      return subscriber !== undefined && isPerishable(subscriber) ? this.#withUntold(subscriber, told) : told;
    } catch (error) {
      if (error instanceof TooManyFields) return this.#close(statusCode.resourceExhausted, error.message);
      // Rule 157.
      if (!(error instanceof MalformedMessage)) throw error;
      return this.#close(statusCode.invalidArgument, `malformed discovery request: ${error.message}`);
    }
  }

  /** The first request names the node (rules 113–115). */
  #identify(bytes: Uint8Array, request: Asked): readonly StreamEffect[] {
    const large = beyondNode(nodeLengthOf(bytes, request), this.#options.limits);
    if (large !== undefined) return this.#close(statusCode.resourceExhausted, large);
    const said = nodeOf(bytes, request) ?? this.#options.defaultNode;
    if (said === undefined) return this.#close(statusCode.invalidArgument, "the first request has no node");
    const node = this.#options.heldMemory?.sameNode(said) ?? said;
    this.#phase = { kind: "identified", node };
    const much = this.#kept.change(undefined, node);
    if (much !== undefined) return this.#close(statusCode.resourceExhausted, much);
    this.#told.identify(node);
    return [{ kind: "identified", node }, ...this.#subscribe(request)];
  }

  /** Takes the part of a request about one type: an answer, a subscription, or both. */
  #subscribe(request: Asked): readonly StreamEffect[] {
    const { limits } = this.#options;
    const beyond = beyondRequest(this.#rules.countNames(request), limits);
    if (beyond !== undefined) return this.#close(statusCode.resourceExhausted, beyond);
    const requested = requestedType(request.typeUrl, this.#options);
    if (requested.kind === "refused") return this.#close(statusCode.invalidArgument, requested.message);
    const { type, api } = requested;
    const subscriber = this.#byType.get(type.typeUrl);
    const pendingBefore = subscriber?.sent.pending.size ?? 0;
    const before = subscriber?.subscription;
    const namesBefore = before?.names ?? NameSet.empty;
    const effects = subscriber === undefined ? [] : this.#hear(subscriber, request);
    if (subscriber === undefined) {
      const many = beyondTypes(this.#byType.size, limits);
      if (many !== undefined) return this.#close(statusCode.resourceExhausted, many);
      const added = this.#rules.begin(newSubscriber(type, api), request, this.#surroundings);
      this.#warming.begun(added);
      this.#byType.set(type.typeUrl, added);
      this.#ordering?.asksMore();
      this.#ordered = inOrder(this.#ordered, added);
      const { wildcard, names } = added.subscription;
      effects.push({ kind: "subscribed", type, wildcard, names: names.size });
    }
    const known = this.#byType.get(type.typeUrl);
    if (known === undefined) return effects;
    const much = this.#countKept(known, subscriber === undefined, namesBefore);
    if (much !== undefined) return this.#close(statusCode.resourceExhausted, much);
    const tellsVariants = known.tellsVariants || this.#rules.hasLocators(request);
    if (known.subscription !== before || known.tellsVariants !== tellsVariants) {
      this.#place.changed();
      known.tellsVariants = tellsVariants;
      const many = beyondStream(this.#ordered, limits);
      if (many !== undefined) return this.#close(statusCode.resourceExhausted, many);
    }
    const unread = subscriber && beyondPending(subscriber, pendingBefore, limits);
    if (unread !== undefined) return this.#close(statusCode.resourceExhausted, unread);
    const after = known.subscription.names;
    if (after !== namesBefore) effects.push(...this.#foreign.note(type, after, namesBefore));
    if (this.#options.onDemand?.has(type.typeUrl)) {
      const demanded = demandedOf(known, this.#rules.demand(request, namesBefore, after), this.#place.wanted);
      if (demanded !== undefined) return [...effects, demanded];
    }
    if (effects.length === 1 && effects[0]?.kind === "acknowledged") this.#settle();
    return effects;
  }

  /** Takes a later request of a type. */
  #hear(subscriber: Kind, request: Asked): StreamEffect[] {
    const { exchange } = subscriber;
    const before = subscriber.type.drains ? usedBy(subscriber) : [];
    const effects = [...this.#rules.receive(subscriber, request, this.#surroundings, this.#now)];
    const ordering = this.#ordering;
    if (ordering !== undefined && subscriber.exchange !== exchange) {
      ordering.usesChanged(subscriber, before, this.#now);
      ordering.progressed(this, subscriber.type);
    }
    return effects;
  }

  #close(code: StatusCode, message: string): readonly StreamEffect[] {
    this.end();
    return [{ kind: "close", code, message }];
  }
}

/** The number of the last response of a type on its stream that was no heartbeat; 0 if there is none. */
function lastContentCountOf(subscriber: Subscriber | undefined): number {
  return subscriber?.exchange.lastSent?.lastContentCount ?? 0;
}
