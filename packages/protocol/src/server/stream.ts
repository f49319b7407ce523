import type { TypeUrl } from "@xdskit/api";
import { wholeStage } from "../make-before-break.js";
import { nodeLengthOf, nodeOf, type Request } from "../messages/requests.js";
import { MalformedMessage, TooManyFields } from "../messages/wire-reader.js";
import { NameSet } from "../name-set.js";
import type { Node } from "../node.js";
import type { Snapshot } from "../snapshot.js";
import type {
  HeldItem,
  OutgoingResponse,
  StatusCode,
  Stream,
  StreamEffect,
  StreamEvent,
  StreamOptions,
} from "./contract.js";
import { statusCode } from "./contract.js";
import { Delivery } from "./delivery.js";
import { delta } from "./delta.js";
import { decide, demandedOf, noteNewest } from "./demand.js";
import { ForeignAuthorities } from "./foreign-authorities.js";
import { type Leg, shift } from "./leg.js";
import { beat, isPerishable } from "./lifetimes.js";
import { Mover } from "./mover.js";
import type { OrderedStream } from "./ordered-stream.js";
import type { Ordering } from "./ordering.js";
import { shortenSnapshot } from "./past-snapshots.js";
import { beyondNode, beyondOwed, beyondRequest, beyondStream, beyondTypes } from "./request-limits.js";
import { requestedType } from "./requested-type.js";
import { acknowledgeStep } from "./sending.js";
import { usedBy } from "./shared-stage.js";
import type { SnapshotLine } from "./snapshot-line.js";
import { sotw } from "./sotw.js";
import { areSettled, statusesOf } from "./status.js";
import { StreamWarming } from "./stream-warming.js";
import { drains, inOrder, newSubscriber, type Subscriber, shortenSets, someHaveDrained } from "./subscriber.js";
import { Told } from "./told.js";
import type { TypeStatus } from "./type-status.js";
import { asksForUnknown, someAsk, type UnknownTypes } from "./unknown-types.js";
import { usuallyAnswered } from "./usual-answers.js";
import type { Surroundings, VariantRules } from "./variant.js";

/** The server's end of a discovery stream, before any request. */
export function createStream(options: StreamOptions): Stream {
  return options.variant === "sotw" ? new ServerStream(options, sotw) : new ServerStream(options, delta);
}

/** Joins what the other files know: requests change subscribers, an `Ordering` says what may be sent, `Delivery` makes responses, and a `Mover` repeats those of other streams. */
class ServerStream<Asked extends Request, Asker extends Subscriber> implements Stream, OrderedStream {
  readonly #options: StreamOptions;
  readonly #rules: VariantRules<Asked, Asker>;
  readonly #surroundings: Surroundings;
  readonly #askers = new Map<TypeUrl, Asker>();
  /** The same in delivery order (rules 117–119), whatever the order in which types were asked for. */
  #ordered: Asker[] = [];
  readonly #warming: StreamWarming;
  #node: Node | undefined;
  #line: SnapshotLine | undefined;
  /** The snapshot that the pass is made from, once a response of it went out; undefined between passes. See `Stream`. */
  #begun: Snapshot | undefined;
  readonly #told: Told;
  /** The time that the machine was told last, in milliseconds. */
  #now = 0;
  #ordering: Ordering | undefined;
  #unknown: UnknownTypes;
  readonly #foreign: ForeignAuthorities;
  #closed = false;
  readonly #mover = new Mover();
  readonly #delivery: Delivery<Asked, Asker>;

  constructor(options: StreamOptions, rules: VariantRules<Asked, Asker>) {
    this.#options = options;
    this.#rules = rules;
    this.#told = new Told(options);
    this.#foreign = new ForeignAuthorities(options.authorities);
    this.#warming = new StreamWarming(options);
    this.#surroundings = {
      api: options.api,
      tellsTtl: ({ type }) => this.#told.ttl(type),
      sentBefore: ({ type, lastSent }) =>
        type.askedAgainAfter.some((url) => (this.#askers.get(url)?.lastSent?.order ?? 0) > (lastSent?.order ?? 0)),
      warming: ({ type }) => this.#warming.namesOf(type.typeUrl),
      settled: (claimed) => void this.#hold(claimed, undefined),
    };
    this.#delivery = new Delivery(rules, {
      options,
      told: this.#told,
      warming: this.#warming,
      mover: this.#mover,
      askers: this.#askers,
      surroundings: this.#surroundings,
    });
  }

  step(event: StreamEvent, now = this.#now): readonly StreamEffect[] {
    if (this.#closed) return [];
    this.#now = now;
    switch (event.kind) {
      case "request":
        return this.#usual(event.bytes) ?? this.#receive(event.bytes);
      case "heartbeat":
        for (const asker of this.#ordered) {
          // Most streams hold nothing with a TTL, and rest on.
          if (!isPerishable(asker) || !this.#told.ttl(asker.type)) continue;
          this.#stray();
          beat(asker, event.interval);
        }
        return [];
      case "time":
        this.#stray();
        return (this.#ordering?.expire(this, this.#now) ?? []).map((wait) => ({ kind: "wait-ended", ...wait }));
      case "snapshot":
        if (this.#told.follow(event.ttl, event.resourceErrors)) {
          this.#mover.changed();
          this.#stray();
        }
        this.#follow(event.ordering);
        if (event.unknown !== this.#unknown) this.#stray();
        this.#unknown = event.unknown;
        this.#line = event.line;
        if (event.line !== undefined && this.#mover.newest === event.snapshot) {
          if (this.#mover.isResting) this.#ordering?.standOnLine(event.snapshot, event.line);
          return [];
        }
        if (!this.#departs(event.snapshot)) this.#take(event.snapshot);
        return [];
      case "absent": {
        this.#stray();
        const asker = this.#askers.get(event.type.typeUrl);
        if (asker !== undefined) decide(asker, NameSet.of(event.names), event.errors ?? [], this.#told.errors);
        return [];
      }
    }
  }

  #follow(ordering: Ordering | undefined): void {
    if (ordering === this.#ordering) return;
    this.#mover.changed();
    this.#ordering?.leave(this);
    this.#ordering = ordering;
    ordering?.join(this);
  }

  /** Whether the stream rested and sets out for a snapshot on a way that another one went (`Mover`). */
  #departs(to: Snapshot): boolean {
    const from = this.#mover.snapshot;
    const ordering = this.#ordering;
    if (ordering?.isShared !== true) return this.#mover.depart(to, this.#ordered, false);
    if (ordering.isInStep(this, from, to)) return this.#mover.depart(to, this.#ordered, true);
    this.#mover.wake();
    return false;
  }

  /** Something happens that the way of others does not know, and that other streams of its order may have to take account of: it goes on by itself. */
  #stray(): void {
    this.#mover.wake();
    this.#ordering?.strayed();
  }

  /** Takes a newer snapshot: what is remembered of older ones must not keep those in between alive, since a client may be behind for long. */
  #take(snapshot: Snapshot): void {
    const before = this.newest;
    for (const asker of this.#ordered) shortenSets(asker, before?.of(asker.type));
    this.#ordering?.shorten(snapshot);
    if (this.#begun !== undefined) shortenSnapshot(this.#begun, snapshot);
    this.#mover.give(snapshot);
    for (const asker of this.#ordered) if (asker.undecided.size > 0) noteNewest(asker, snapshot.of(asker.type));
  }

  next(now = this.#now): OutgoingResponse | undefined {
    this.#now = now;
    if (this.#mover.isIdle || this.#closed || this.#node === undefined) return undefined;
    this.#mover.goOn(this.#ordered);
    const { leg, newest } = this.#mover;
    if (newest === undefined) return undefined;
    if (leg !== undefined && !someHaveDrained(this.#ordered, now)) return this.#repeat(leg, newest);
    if (leg !== undefined) this.#stray();
    return this.#find(newest, this.#node);
  }

  /** The next response, worked out for this stream. A method of its own, since V8 would take three times as long to optimize `next` with it. */
  #find(newest: Snapshot, node: Node): OutgoingResponse | undefined {
    const snapshot = this.#begun ?? newest;
    const ordering = this.#ordering;
    // A type that moves on without a response, since there is nothing to say, counts as acknowledged, which may let another type go on: at most one round for each.
    for (let round = 0; round <= this.#ordered.length; round++) {
      const stage = ordering?.stageOf(this, snapshot, this.#now) ?? wholeStage;
      // From here on it matters what the other streams of its order do.
      if (stage !== wholeStage && ordering?.isShared === true) this.#stray();
      this.#mover.noteStage(stage);
      let moved: Asker[] | undefined;
      for (const asker of this.#ordered) {
        if (asksForUnknown(asker, this.#unknown)) continue;
        const target = ordering?.targetOf(asker, stage, snapshot, this.#now) ?? snapshot.of(asker.type);
        const heldBack = stage.heldBack.get(asker.type.typeUrl);
        const { acked } = asker;
        const course = { target, heldBack, snapshot, node, now: this.#now };
        const response = this.#delivery.bring(asker, course) ?? this.#delivery.heartbeat(asker, this.#now);
        if (response === undefined) {
          if (asker.acked !== acked) moved = [...(moved ?? []), asker];
          continue;
        }
        if (!response.isHeartbeat) this.#begun = snapshot;
        return response;
      }
      if (ordering === undefined || moved === undefined) break;
      for (const { type } of moved) ordering.progressed(this, type);
      if (stage === wholeStage) break;
    }
    this.#begun = undefined;
    if (snapshot !== newest) return this.next();
    this.#settle();
    return undefined;
  }

  /** The next response of the leg that another stream went. */
  #repeat(leg: Leg, wanted: Snapshot): OutgoingResponse | undefined {
    const { step, isAtStart } = this.#mover;
    const { shifts, stage } = step ?? leg;
    if (isAtStart) this.#ordering?.setOut(wanted, leg.way.departure, this.#line);
    shift(this.#ordered, shifts, step?.index);
    this.#ordering?.repeat(this, stage, wanted, step?.index, this.#now);
    if (step === undefined) {
      this.#begun = undefined;
      this.#mover.endLeg();
      return undefined;
    }
    this.#mover.take();
    this.#begun = wanted;
    return this.#delivery.repeat(this.#ordered[step.index] as Asker, step, this.#now);
  }

  /** There is nothing to send: the stream may come to rest, or to the end of a leg that others may go. */
  #settle(): void {
    const [node, newest, ordering] = [this.#node, this.newest, this.#ordering];
    if (node === undefined || newest === undefined || this.#begun !== undefined) return;
    if (this.#told.errors || !this.#warming.isIdle || someAsk(this.#ordered, this.#unknown)) return;
    if (ordering?.mayRest(this) === false) {
      if (!ordering.isShared) this.#mover.pause(newest, this.#ordered);
      return;
    }
    const isOrdered = ordering !== undefined;
    const around = {
      needed: (asker: Subscriber) => ordering?.meanwhile(this, asker, newest) ?? newest.of(asker.type),
      options: this.#options,
      told: this.#told,
      node,
      isOrdered,
      isAccompanied: ordering?.isShared === true,
      line: this.#line,
    };
    this.#mover.settle(newest, this.#ordered, around);
  }

  get subscribers(): readonly Subscriber[] {
    return this.#ordered;
  }

  progressed(): void {
    this.#options.progressed?.();
  }

  strayed(): void {
    this.#mover.changed();
  }

  overtaken(): void {
    if (!this.#mover.isResting) this.#mover.wake();
  }

  isBetween(from: Snapshot, to: Snapshot): boolean {
    return this.#mover.isBetween(from, to);
  }

  deadline(): number | undefined {
    const isIdle = this.#mover.isResting || this.#mover.leg?.isFree;
    if (this.#closed || (isIdle && !this.#ordered.some(drains))) return undefined;
    return this.#ordering?.deadline(this);
  }

  end(): void {
    if (!this.#closed) this.#hold(this.#node, undefined);
    this.#closed = true;
    this.#mover.wake();
    this.#mover.give(undefined);
    for (const asker of this.#ordered) {
      this.#hold(asker.subscription.names, undefined);
      this.#hold(asker.owedCounted, undefined);
      this.#hold(this.#rules.claimsOf(asker), undefined);
    }
    this.#askers.clear();
    this.#ordered = [];
    this.#line = undefined;
    this.#begun = undefined;
    this.#ordering?.leave(this);
  }

  /** Keeps something else; says why that is too much, if so. */
  #hold(before: HeldItem | undefined, after: HeldItem | undefined): string | undefined {
    return before === after ? undefined : this.#options.heldMemory?.change(before, after);
  }

  status(): readonly TypeStatus[] {
    return statusesOf(this, this.newest, this.#ordering, this.#told);
  }

  get newest(): Snapshot | undefined {
    return this.#mover.newest;
  }

  isAbreast(snapshot: Snapshot): boolean {
    if (this.#mover.newest !== snapshot) return false;
    return !this.#mover.isResting || this.#ordering?.goesAlong !== false;
  }

  get isSettled(): boolean {
    if (this.#mover.isResting) return true;
    const { newest } = this;
    if (newest === undefined || this.#mover.awaitsAnswers || someAsk(this.#ordered, this.#unknown)) return false;
    return areSettled(this, newest, this.#ordering);
  }

  /** Takes an acknowledgement of a step of a leg without decoding it, where its bytes are those of an earlier one but for nonce, version and node. */
  #usual(bytes: Uint8Array): readonly StreamEffect[] | undefined {
    const { leg, takesAnswers } = this.#mover;
    if (leg === undefined || !takesAnswers) return undefined;
    const step = usuallyAnswered(leg, this.#ordered, bytes);
    if (step === undefined) return undefined;
    const asker = this.#ordered[step.index] as Asker;
    const { draining } = asker;
    const before = asker.type.drains ? usedBy(asker) : [];
    this.#rules.noteUsual(asker);
    const effects = acknowledgeStep(step, asker, this.#now);
    if (asker.type.drains) this.#ordering?.acknowledged(asker, before, this.#now);
    // How long connections drain is a matter of this client alone, and of the other streams of its order.
    if (asker.draining !== draining) this.#stray();
    else this.#mover.answered(step);
    return isPerishable(asker) ? this.#withUntold(asker, effects) : effects;
  }

  /** What follows an acknowledgement, and, the first time, that the client is not told the TTLs of what it has. */
  #withUntold(asker: Asker, effects: readonly StreamEffect[]): readonly StreamEffect[] {
    const resources = this.#told.noteUntold(asker);
    return resources === 0 ? effects : [...effects, { kind: "ttl-untold", type: asker.type, resources }];
  }

  #receive(bytes: Uint8Array): readonly StreamEffect[] {
    this.#mover.wake();
    try {
      const { namesPerRequest, namesPerStream } = this.#options.limits;
      const request = this.#rules.read(bytes, { names: namesPerRequest, claims: namesPerStream });
      const effects: StreamEffect[] = [];
      if (this.#node === undefined) {
        const large = beyondNode(nodeLengthOf(bytes, request), this.#options.limits);
        if (large !== undefined) return this.#close(statusCode.resourceExhausted, large);
        // Rules 113–115: the first request decides which node it is.
        this.#node = nodeOf(bytes, request) ?? this.#options.defaultNode;
        if (this.#node === undefined) return this.#close(statusCode.invalidArgument, "the first request has no node");
        this.#node = this.#options.heldMemory?.sameNode(this.#node) ?? this.#node;
        const much = this.#hold(undefined, this.#node);
        if (much !== undefined) return this.#close(statusCode.resourceExhausted, much);
        this.#told.identify(this.#node);
        effects.push({ kind: "identified", node: this.#node });
      }
      if (effects.length > 0) return [...effects, ...this.#subscribe(request)];
      const told = this.#subscribe(request);
      const [only] = told;
      // The other streams go on by themselves, unless this was a plain acknowledgement after which nothing drains.
      if (told.length !== 1 || only?.kind !== "acknowledged" || this.#ordered.some(drains)) this.#ordering?.strayed();
      if (only?.kind !== "acknowledged") return told;
      const asker = this.#askers.get(only.type.typeUrl);
      return asker !== undefined && isPerishable(asker) ? this.#withUntold(asker, told) : told;
    } catch (error) {
      if (error instanceof TooManyFields) return this.#close(statusCode.resourceExhausted, error.message);
      // Rule 157.
      if (!(error instanceof MalformedMessage)) throw error;
      return this.#close(statusCode.invalidArgument, `malformed discovery request: ${error.message}`);
    }
  }

  /** What a request says of one type: an answer, a subscription, or both. */
  #subscribe(request: Asked): readonly StreamEffect[] {
    const { limits } = this.#options;
    const beyond = beyondRequest(this.#rules.countNames(request), limits);
    if (beyond !== undefined) return this.#close(statusCode.resourceExhausted, beyond);
    const requested = requestedType(request.typeUrl, this.#options);
    if (requested.kind === "refused") return this.#close(statusCode.invalidArgument, requested.message);
    const { type, api } = requested;
    const asker = this.#askers.get(type.typeUrl);
    const owedBefore = asker?.owed.size ?? 0;
    const before = asker?.subscription;
    const namesBefore = before?.names ?? NameSet.empty;
    const effects = asker === undefined ? [] : this.#hear(asker, request);
    if (asker === undefined) {
      const many = beyondTypes(this.#askers.size, limits);
      if (many !== undefined) return this.#close(statusCode.resourceExhausted, many);
      const added = this.#rules.begin(newSubscriber(type, api), request, this.#surroundings);
      this.#warming.begun(added);
      this.#askers.set(type.typeUrl, added);
      this.#ordering?.asksMore();
      this.#ordered = inOrder(this.#ordered, added);
      const { wildcard, names } = added.subscription;
      effects.push({ kind: "subscribed", type, wildcard, names: names.size });
    }
    const known = this.#askers.get(type.typeUrl);
    if (known === undefined) return effects;
    // All is counted before anything is refused: `end` takes back all.
    let held = asker === undefined ? this.#hold(undefined, this.#rules.claimsOf(known)) : undefined;
    held = this.#hold(namesBefore, known.subscription.names) ?? held;
    held = this.#hold(known.owedCounted, known.owed) ?? held;
    known.owedCounted = known.owed;
    if (held !== undefined) return this.#close(statusCode.resourceExhausted, held);
    const tellsVariants = known.tellsVariants || this.#rules.hasLocators(request);
    if (known.subscription !== before || known.tellsVariants !== tellsVariants) {
      this.#mover.changed();
      known.tellsVariants = tellsVariants;
      const many = beyondStream(this.#ordered, limits);
      if (many !== undefined) return this.#close(statusCode.resourceExhausted, many);
    }
    const unread = asker && beyondOwed(asker, owedBefore, limits);
    if (unread !== undefined) return this.#close(statusCode.resourceExhausted, unread);
    const after = known.subscription.names;
    if (after !== namesBefore) effects.push(...this.#foreign.note(type, after, namesBefore));
    if (this.#options.onDemand?.has(type.typeUrl)) {
      const demanded = demandedOf(known, this.#rules.demand(request, namesBefore, after), this.newest);
      if (demanded !== undefined) return [...effects, demanded];
    }
    if (effects.length === 1 && effects[0]?.kind === "acknowledged") this.#settle();
    return effects;
  }

  /** A further request of a type. */
  #hear(asker: Asker, request: Asked): StreamEffect[] {
    const { acked, rejection, outstanding } = asker;
    const before = asker.type.drains ? usedBy(asker) : [];
    const effects = [...this.#rules.receive(asker, request, this.#surroundings, this.#now)];
    const ordering = this.#ordering;
    // An acknowledgement may leave `acked` as it was: of a name that was asked for anew, say. So the lists are compared, too.
    const isAnswer = asker.acked !== acked || asker.rejection !== rejection || asker.outstanding !== outstanding;
    if (ordering !== undefined && isAnswer) {
      ordering.acknowledged(asker, before, this.#now);
      ordering.progressed(this, asker.type);
    }
    return effects;
  }

  #close(code: StatusCode, message: string): readonly StreamEffect[] {
    this.end();
    return [{ kind: "close", code, message }];
  }
}
