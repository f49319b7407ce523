import type { ResourceName, ResourceType, TypeUrl } from "@xdskit/api";
import { wholeStage } from "../make-before-break.js";
import { nodeLengthOf, nodeOf, type Request } from "../messages/requests.js";
import type { ResourceError } from "../messages/responses.js";
import { MalformedMessage } from "../messages/wire-reader.js";
import { NameSet } from "../name-set.js";
import type { Node } from "../node.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { isAbsenceUnsaid } from "./absence.js";
import { isUnconcerned, type Need } from "./content.js";
import type { OutgoingResponse, StatusCode, Stream, StreamEffect, StreamEvent, StreamOptions } from "./contract.js";
import { statusCode } from "./contract.js";
import { delta } from "./delta.js";
import { among, mustWait, noteDemand, noteNewest, undecidedIn, withoutLocators } from "./demand.js";
import { noForeign, withForeign } from "./foreign-authorities.js";
import { heartbeatOf } from "./heartbeats.js";
import { noteOutstanding, settleSilently } from "./holding.js";
import { beat, noteLifetimes } from "./lifetimes.js";
import { mostCharacters } from "./limits.js";
import type { OrderedStream, Ordering } from "./ordering.js";
import { headOf, outgoing } from "./outgoing.js";
import { requestedType } from "./requested-type.js";
import { type ErrorsToTell, noErrors, noted } from "./resource-errors.js";
import { type SharedResponse, sharedResponse } from "./shared-responses.js";
import { usedBy } from "./shared-stage.js";
import { sotw } from "./sotw.js";
import { isSettled, statusOf, type TypeStatus } from "./status.js";
import { StreamWarming } from "./stream-warming.js";
import { holdAll, isUpToDate, newSubscriber, type Subscriber, setsOf, standsOnlyAt } from "./subscriber.js";
import { Told } from "./told.js";
import type { Surroundings, VariantRules } from "./variant.js";

/** The server's end of a discovery stream, before any request. */
export function createStream(options: StreamOptions): Stream {
  return options.variant === "sotw" ? new ServerStream(options, sotw) : new ServerStream(options, delta);
}

/** Where one type is to be brought now. */
interface Course {
  /** What the snapshot has of it, or as much of that as may be sent now. */
  readonly target: ResourceSet;
  /** Names that wait, if a client asks for them anew. */
  readonly heldBack: ReadonlySet<ResourceName> | undefined;
  readonly snapshot: Snapshot;
  readonly node: Node;
}

class ServerStream<Asked extends Request, Asker extends Subscriber> implements Stream, OrderedStream {
  readonly #options: StreamOptions;
  readonly #rules: VariantRules<Asked, Asker>;
  readonly #surroundings: Surroundings;
  readonly #askers = new Map<TypeUrl, Asker>();
  /** In delivery order (rules 117–119), whatever the order in which they were asked for. */
  #ordered: Asker[] = [];
  readonly #warming: StreamWarming;
  #node: Node | undefined;
  #newest: Snapshot | undefined;
  /** What the pass is made from of which a response went out; undefined between passes. */
  #begun: Snapshot | undefined;
  readonly #told: Told;
  #sent = 0;
  /** The time that it was told last, in milliseconds. */
  #now = 0;
  #ordering: Ordering | undefined;
  /** Authorities that the client was noted to ask for in vain. */
  #foreign = noForeign;
  #closed = false;

  constructor(options: StreamOptions, rules: VariantRules<Asked, Asker>) {
    this.#options = options;
    this.#rules = rules;
    this.#told = new Told(options);
    this.#warming = new StreamWarming(options);
    this.#surroundings = {
      api: options.api,
      tellsTtl: ({ type }) => this.#told.ttl(type),
      sentBefore: ({ type, lastSent }) =>
        type.askedAgainAfter.some((url) => (this.#askers.get(url)?.lastSent?.order ?? 0) > (lastSent?.order ?? 0)),
      warming: ({ type }) => this.#warming.namesOf(type.typeUrl),
    };
  }

  step(event: StreamEvent, now = this.#now): readonly StreamEffect[] {
    if (this.#closed) return [];
    this.#now = now;
    switch (event.kind) {
      case "request":
        return this.#receive(event.bytes);
      case "heartbeat":
        for (const asker of this.#ordered) if (this.#told.ttl(asker.type)) beat(asker, event.interval);
        return [];
      case "time": {
        const ended = this.#ordering?.expire(this, this.#now) ?? [];
        return ended.map((wait) => ({ kind: "wait-ended", ...wait }));
      }
      case "snapshot":
        this.#told.follow(event.ttl, event.resourceErrors);
        this.#follow(event.ordering);
        this.#take(event.snapshot);
        return [];
      case "absent": {
        const asker = this.#askers.get(event.type.typeUrl);
        if (asker !== undefined) this.#decide(asker, NameSet.of(event.names), event.errors ?? []);
        return [];
      }
    }
  }

  #follow(ordering: Ordering | undefined): void {
    if (ordering === this.#ordering) return;
    this.#ordering?.leave(this);
    this.#ordering = ordering;
    ordering?.join(this);
  }

  #decide(asker: Asker, names: NameSet, errors: readonly ResourceError[]): void {
    for (const name of names) asker.undecided.delete(name);
    if (!this.#told.errors) return;
    const waiting = [...names].filter((name) => asker.subscription.names.has(name));
    asker.owed = asker.owed.with(waiting);
    asker.errors = noted(
      asker.errors,
      errors.filter(({ name }) => asker.subscription.names.has(name)),
    );
  }

  #take(snapshot: Snapshot): void {
    // A client that is behind stands at old sets, perhaps for long, and a pass that began may be as old.
    for (const subscriber of this.#ordered) {
      const newest = this.#newest?.of(subscriber.type);
      if (standsOnlyAt(subscriber, newest)) continue;
      for (const set of setsOf(subscriber)) if (set !== newest) ResourceSets.shorten(set);
    }
    this.#ordering?.shorten(snapshot);
    // Also of types that were not asked for: they are kept with the others.
    for (const set of this.#begun?.sets.values() ?? []) {
      if (set !== this.#newest?.of(set.type)) ResourceSets.shorten(set);
    }
    this.#newest = snapshot;
    for (const asker of this.#ordered) if (asker.undecided.size > 0) noteNewest(asker, snapshot.of(asker.type));
  }

  next(now = this.#now): OutgoingResponse | undefined {
    this.#now = now;
    if (this.#closed || this.#newest === undefined || this.#node === undefined) return undefined;
    const snapshot = this.#begun ?? this.#newest;
    const ordering = this.#ordering;
    // What a client need not be told moves on without its answer, which may let something else go on: at most once for each type.
    for (let round = 0; round <= this.#ordered.length; round++) {
      const stage = ordering?.stageOf(this, snapshot, this.#now) ?? wholeStage;
      const before = ordering === undefined ? [] : this.#ordered.map(({ acked }) => acked);
      for (const asker of this.#ordered) {
        const target = ordering?.targetOf(asker, stage, snapshot, this.#now) ?? snapshot.of(asker.type);
        const heldBack = stage.heldBack.get(asker.type.typeUrl);
        const response = this.#bring(asker, { target, heldBack, snapshot, node: this.#node }) ?? this.#heartbeat(asker);
        if (response === undefined) continue;
        if (!response.isHeartbeat) this.#begun = snapshot;
        return response;
      }
      const moved = ordering === undefined ? [] : this.#ordered.filter(({ acked }, index) => acked !== before[index]);
      for (const { type } of moved) ordering?.progressed(this, type);
      if (moved.length === 0 || stage === wholeStage) break;
    }
    this.#begun = undefined;
    return snapshot === this.#newest ? undefined : this.next();
  }

  /** Only of a client that holds what the snapshot has, and is owed nothing of it; but for a full set that still waits. */
  #heartbeat(asker: Asker): OutgoingResponse | undefined {
    if (asker.lifetimes === undefined || asker.waitsFor.size > 0) return undefined;
    const heartbeat = heartbeatOf(this.#rules, asker, this.#told);
    return heartbeat && this.#send(asker, heartbeat, true);
  }

  get subscribers(): readonly Subscriber[] {
    return this.#ordered;
  }

  progressed(): void {
    this.#options.progressed?.();
  }

  deadline(): number | undefined {
    return this.#closed ? undefined : this.#ordering?.deadline(this);
  }

  end(): void {
    this.#closed = true;
    this.#askers.clear();
    this.#ordered = [];
    this.#newest = undefined;
    this.#begun = undefined;
    this.#ordering?.leave(this);
  }

  status(): readonly TypeStatus[] {
    const ordering = this.#ordering;
    return this.#ordered.map((asker) =>
      statusOf(asker, this.#newest?.of(asker.type), ordering?.waitsOf(this, asker) ?? []),
    );
  }

  get isSettled(): boolean {
    const newest = this.#newest;
    return newest !== undefined && this.#ordered.every((asker) => isSettled(asker, newest.of(asker.type)));
  }

  #receive(bytes: Uint8Array): readonly StreamEffect[] {
    try {
      const { namesPerRequest, namesPerStream, nodeBytes } = this.#options.limits;
      const request = this.#rules.read(bytes, { names: namesPerRequest, claims: namesPerStream });
      const effects: StreamEffect[] = [];
      if (this.#node === undefined) {
        const length = nodeLengthOf(bytes, request);
        if (length > nodeBytes) {
          return this.#exhausted(
            `the node takes ${length} bytes without its extensions, and at most ${nodeBytes} are allowed`,
          );
        }
        // Rules 113–115: the first request decides who it is.
        this.#node = nodeOf(bytes, request) ?? this.#options.defaultNode;
        if (this.#node === undefined) return this.#close(statusCode.invalidArgument, "the first request has no node");
        this.#told.identify(this.#node);
        effects.push({ kind: "identified", node: this.#node });
      }
      effects.push(...this.#subscribe(request));
      return effects;
    } catch (error) {
      // Rule 157.
      if (!(error instanceof MalformedMessage)) throw error;
      return this.#close(statusCode.invalidArgument, `malformed discovery request: ${error.message}`);
    }
  }

  #subscribe(request: Asked): readonly StreamEffect[] {
    const { limits } = this.#options;
    const count = this.#rules.countNames(request);
    if (count > limits.namesPerRequest) {
      return this.#exhausted(
        `a request has ${count} resource names, and at most ${limits.namesPerRequest} are allowed`,
      );
    }
    const claims = this.#rules.countClaims(request);
    if (claims > limits.namesPerStream) {
      return this.#exhausted(
        `a request claims to have ${claims} resources, and at most ${limits.namesPerStream} are allowed`,
      );
    }
    const requested = requestedType(request.typeUrl, this.#options);
    if (requested.kind === "refused") return this.#close(statusCode.invalidArgument, requested.message);

    const { type, api } = requested;
    const asker = this.#askers.get(type.typeUrl);
    const owedBefore = asker?.owed.size ?? 0;
    const namesBefore = asker?.subscription.names ?? NameSet.empty;
    const effects = asker === undefined ? [] : this.#hear(asker, request);
    if (asker === undefined) {
      if (this.#askers.size >= limits.typesPerStream) {
        return this.#exhausted(`the stream asks for more than ${limits.typesPerStream} resource types`);
      }
      const added = this.#rules.begin(newSubscriber(type, api), request, this.#surroundings);
      this.#warming.begun(added);
      this.#askers.set(type.typeUrl, added);
      this.#ordered = [...this.#askers.values()].sort((a, b) => a.type.deliveryOrder - b.type.deliveryOrder);
      const { wildcard, names } = added.subscription;
      effects.push({ kind: "subscribed", type, wildcard, names: names.size });
    }
    const known = this.#askers.get(type.typeUrl);
    if (known !== undefined && this.#rules.hasLocators(request)) known.tellsVariants = true;
    const names = this.#ordered.reduce((sum, { subscription }) => sum + subscription.names.size, 0);
    if (names > limits.namesPerStream) {
      return this.#exhausted(`the stream names ${names} resources, and at most ${limits.namesPerStream} are allowed`);
    }
    const most = mostCharacters(limits);
    const characters = this.#ordered.reduce((sum, { subscription }) => sum + subscription.names.characters, 0);
    if (characters > most) {
      return this.#exhausted(`the stream's names have ${characters} characters, and at most ${most} are allowed`);
    }
    // Names that a client takes back at once are still to be answered under a wildcard, which it may put off by not reading.
    const owed = asker?.owed.size ?? 0;
    if (owed > owedBefore && (owed > limits.namesPerStream || (asker?.owed.characters ?? 0) > most)) {
      return this.#exhausted(
        `the stream waits for ${owed} names, and at most ${limits.namesPerStream} of ${most} characters are allowed`,
      );
    }
    const after = known?.subscription.names ?? NameSet.empty;
    if (after !== namesBefore) effects.push(...this.#foreignIn(type, after));
    const demanded = this.#options.onDemand?.has(type.typeUrl) ? this.#demand(type, request, namesBefore) : undefined;
    return demanded === undefined ? effects : [...effects, demanded];
  }

  /** A further request of a type. */
  #hear(asker: Asker, request: Asked): StreamEffect[] {
    const { acked, rejection, outstanding } = asker;
    const before = asker.type.drains ? usedBy(asker) : [];
    const effects = [...this.#rules.receive(asker, request, this.#surroundings, this.#now)];
    const ordering = this.#ordering;
    // What it acknowledged may be in no other set than what it had: a name that it asked for anew, say.
    const isAnswer = asker.acked !== acked || asker.rejection !== rejection || asker.outstanding !== outstanding;
    if (ordering !== undefined && isAnswer) {
      ordering.acknowledged(asker, before, this.#now);
      ordering.progressed(this, asker.type);
    }
    return effects;
  }

  #demand(type: ResourceType, request: Asked, before: NameSet): StreamEffect | undefined {
    const asker = this.#askers.get(type.typeUrl);
    if (asker === undefined) return undefined;
    const { names } = asker.subscription;
    const demand = withoutLocators(this.#rules.demand(request, before, names));
    if (demand.added.length + demand.again.length + demand.dropped.length === 0) return undefined;
    noteDemand(asker, demand);
    if (this.#newest !== undefined) noteNewest(asker, this.#newest.of(type));
    return { kind: "demanded", type, ...demand, names };
  }

  /** Brings one type to its target. */
  #bring(asker: Asker, course: Course): OutgoingResponse | undefined {
    const response = this.#respond(asker, course);
    if (response !== undefined) return response;
    const { owed } = asker;
    settleSilently(asker);
    return asker.owed === owed ? undefined : this.#respond(asker, course);
  }

  #respond(asker: Asker, { target: current, heldBack, snapshot, node }: Course): OutgoingResponse | undefined {
    const { type, api } = asker;
    this.#rules.settleClaims(asker, current, this.#surroundings);
    this.#warming.deliver(asker, snapshot);
    const errors = this.#told.errors ? this.#errorsToTell(asker) : undefined;
    if (isUpToDate(asker, current)) return undefined;
    if (asker.undecided.size + asker.waitsFor.size === 0 && isUnconcerned(asker, current)) {
      asker.held = current;
      asker.errors = noErrors;
      return undefined;
    }
    const undecided = undecidedIn(asker, current);
    if (this.#options.variant === "sotw" && mustWait(asker, undecided)) return undefined;
    // What is there and may not be sent yet is no more absent than what is undecided.
    const later = among(asker.owed, heldBack === undefined ? undecided : new Set([...undecided, ...heldBack]));
    const need: Need = {
      variant: this.#options.variant,
      api,
      subscription: asker.subscription,
      held: asker.held,
      current,
      everything: asker.everything,
      owed: asker.owed.without(later),
      mustAnswer: asker.mustAnswer,
      absenceUnsaid: isAbsenceUnsaid(type, node),
      tellsVariants: asker.tellsVariants,
      errors,
    };
    asker.errors = noErrors;
    const response = sharedResponse(this.#rules, need, headOf(asker, current, this.#told));
    holdAll(asker, current, later);
    if (response === undefined) return undefined;

    const isWhole = this.#rules.variant === "sotw" && type.fullState;
    noteLifetimes(asker, response.perishable, isWhole || need.everything || need.held.size === 0);
    this.#warming.sent(response.content, current, this.#askers);
    return this.#send(asker, response, false);
  }

  /** What it names and was not answered is owed: SotW has no other way to say that there is none. */
  #errorsToTell(asker: Asker): ErrorsToTell {
    if (asker.unanswered && asker.type.schema !== undefined) asker.owed = asker.owed.with(asker.subscription.names);
    asker.unanswered = false;
    return { known: asker.errors, authorities: this.#options.authorities };
  }

  #foreignIn(type: ResourceType, names: NameSet): readonly StreamEffect[] {
    const before = this.#foreign;
    this.#foreign = withForeign(before, names, this.#options.authorities);
    if (this.#foreign === before) return [];
    const added = [...this.#foreign].filter((authority) => !before.has(authority));
    return added.map((authority) => ({ kind: "foreign", type, authority }));
  }

  #send(asker: Asker, shared: SharedResponse, isHeartbeat: boolean): OutgoingResponse {
    const { sent, response } = outgoing(asker, shared, ++this.#sent, this.#now, isHeartbeat);
    this.#rules.noteSent(asker, sent);
    noteOutstanding(asker, sent);
    asker.lastSent = sent;
    return response;
  }

  #exhausted(message: string): readonly StreamEffect[] {
    return this.#close(statusCode.resourceExhausted, message);
  }

  #close(code: StatusCode, message: string): readonly StreamEffect[] {
    this.end();
    return [{ kind: "close", code, message }];
  }
}
