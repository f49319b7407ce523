import type { ResourceType, TypeUrl } from "@xdskit/api";
import { nodeLengthOf, nodeOf, type Request } from "../messages/requests.js";
import { type ResourceError, type ResponseHead, writeNonce } from "../messages/responses.js";
import { MalformedMessage } from "../messages/wire-reader.js";
import { NameSet } from "../name-set.js";
import type { Node } from "../node.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { isAbsenceUnsaid } from "./absence.js";
import type { Content, Need } from "./content.js";
import type { OutgoingResponse, StatusCode, Stream, StreamEffect, StreamEvent, StreamOptions } from "./contract.js";
import { statusCode } from "./contract.js";
import { delta } from "./delta.js";
import { among, mustWait, noteDemand, noteNewest, undecidedIn, withoutLocators } from "./demand.js";
import { sharedHeartbeat } from "./heartbeats.js";
import { beat, noteLifetimes } from "./lifetimes.js";
import { requestedType, typeUrlIn } from "./requested-type.js";
import {
  type ErrorsToTell,
  foreignAuthority,
  noted,
  type ResourceErrorPolicy,
  tellsErrors,
} from "./resource-errors.js";
import { type SharedResponse, sharedResponse } from "./shared-responses.js";
import { sotw } from "./sotw.js";
import { holdAll, isUpToDate, newSubscriber, type Subscriber } from "./subscriber.js";
import { isTtlFatal, type TtlPolicy, tellsTtl } from "./ttl-policy.js";
import type { Surroundings, VariantRules } from "./variant.js";
import { namesToWarm, openingsOfAll, openingsReferredTo, WarmingNames } from "./warming.js";

/** Authorities that are noted of a stream. */
const mostForeign = 8;
const noErrors: ReadonlyMap<string, ResourceError> = new Map();

/** What a client that holds everything needs. */
const heldAll = { everything: false, owed: NameSet.empty, mustAnswer: false, absenceUnsaid: false } as const;

/** The server's end of a discovery stream, before any request. */
export function createStream(options: StreamOptions): Stream {
  return options.variant === "sotw" ? new ServerStream(options, sotw) : new ServerStream(options, delta);
}

class ServerStream<Asked extends Request, Asker extends Subscriber> implements Stream {
  readonly #options: StreamOptions;
  readonly #rules: VariantRules<Asked, Asker>;
  readonly #surroundings: Surroundings;
  readonly #askers = new Map<TypeUrl, Asker>();
  /** In delivery order (rules 117–119), whatever the order in which they were asked for. */
  #ordered: Asker[] = [];
  /** Names that resources sent before refer to, of types that were not asked for then. */
  readonly #warming = new Map<TypeUrl, WarmingNames>();
  #node: Node | undefined;
  #newest: Snapshot | undefined;
  /** What the pass is made from of which a response went out; undefined between passes. */
  #begun: Snapshot | undefined;
  #ttl: TtlPolicy | undefined;
  /** The client is told TTLs; undefined while that was not asked. */
  #tellsTtl: boolean | undefined;
  #sent = 0;
  readonly #foreign = new Set<string>();
  #resourceErrors: ResourceErrorPolicy | undefined;
  /** What is asked for one by one is to be opened for all that refers to it: that comes to the client on another stream. */
  #opensAll = false;
  #closed = false;

  constructor(options: StreamOptions, rules: VariantRules<Asked, Asker>) {
    this.#options = options;
    this.#rules = rules;
    this.#surroundings = {
      api: options.api,
      tellsTtl: ({ type }) => this.#isToldTtl(type),
      sentBefore: ({ type, lastSent }) =>
        type.askedAgainAfter.some((url) => (this.#askers.get(url)?.lastSent?.order ?? 0) > (lastSent?.order ?? 0)),
      warming: ({ type }) => this.#warming.get(type.typeUrl)?.names ?? NameSet.empty,
    };
  }

  step(event: StreamEvent): readonly StreamEffect[] {
    if (this.#closed) return [];
    switch (event.kind) {
      case "request":
        return this.#receive(event.bytes);
      case "heartbeat":
        for (const asker of this.#ordered) if (this.#isToldTtl(asker.type)) beat(asker, event.interval);
        return [];
      case "snapshot":
        this.#resourceErrors = event.resourceErrors;
        this.#take(event.snapshot, event.ttl);
        return [];
      case "absent": {
        const asker = this.#askers.get(event.type.typeUrl);
        if (asker !== undefined) this.#decide(asker, NameSet.of(event.names), event.errors ?? []);
        return [];
      }
    }
  }

  #decide(asker: Asker, names: NameSet, errors: readonly ResourceError[]): void {
    asker.undecided = asker.undecided.without(names);
    if (!this.#tellsErrors) return;
    const waiting = [...names].filter((name) => asker.subscription.names.has(name));
    asker.owed = asker.owed.with(waiting);
    asker.errors = noted(
      asker.errors,
      errors.filter(({ name }) => asker.subscription.names.has(name)),
    );
  }

  get #tellsErrors(): boolean {
    const { api, resourceErrors = "advertised" } = this.#options;
    const policy = this.#resourceErrors ?? resourceErrors;
    return api === "v3" && this.#node !== undefined && tellsErrors(this.#node, policy);
  }

  #take(snapshot: Snapshot, ttl: TtlPolicy | undefined): void {
    // A client that is behind stands at old sets, perhaps for long, and a pass that began may be as old.
    for (const { held, type } of this.#ordered) if (held !== this.#newest?.of(type)) ResourceSets.shorten(held);
    // Also of types that were not asked for: they are kept with the others.
    for (const set of this.#begun?.sets.values() ?? []) {
      if (set !== this.#newest?.of(set.type)) ResourceSets.shorten(set);
    }
    this.#newest = snapshot;
    for (const asker of this.#ordered) noteNewest(asker, snapshot.of(asker.type));
    if (ttl !== this.#ttl) this.#tellsTtl = undefined;
    this.#ttl = ttl;
  }

  #isToldTtl(type: ResourceType): boolean {
    if (this.#ttl === undefined || this.#node === undefined) return false;
    this.#tellsTtl ??= tellsTtl(this.#options, this.#node, this.#ttl);
    return this.#tellsTtl && !isTtlFatal(type, this.#options, this.#node);
  }

  next(): OutgoingResponse | undefined {
    if (this.#closed || this.#newest === undefined || this.#node === undefined) return undefined;
    const snapshot = this.#begun ?? this.#newest;
    for (const asker of this.#ordered) {
      const response = this.#respond(asker, snapshot, this.#node);
      if (response !== undefined) {
        this.#begun = snapshot;
        return response;
      }
      // Only now it holds what the snapshot has, and is owed nothing of it; but for a full set that still waits.
      if (asker.waitsFor.size > 0) continue;
      const heartbeat = this.#heartbeat(asker);
      if (heartbeat !== undefined) return heartbeat;
    }
    this.#begun = undefined;
    return snapshot === this.#newest ? undefined : this.next();
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
    const effects = asker === undefined ? [] : [...this.#rules.receive(asker, request, this.#surroundings)];
    if (asker === undefined) {
      if (this.#askers.size >= limits.typesPerStream) {
        return this.#exhausted(`the stream asks for more than ${limits.typesPerStream} resource types`);
      }
      const added = this.#rules.begin(newSubscriber(type, api), request, this.#surroundings);
      if (type.absence === "unresolved") {
        added.owed = added.owed.with(this.#surroundings.warming(added));
        const { wildcard, names } = added.subscription;
        this.#opensAll = this.#options.only !== undefined && !wildcard && names.size === 0;
      }
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
    // Names that a client takes back at once are still to be answered under a wildcard, which it may put off by not reading.
    const owed = asker?.owed.size ?? 0;
    if (owed > owedBefore && owed > limits.namesPerStream) {
      return this.#exhausted(`the stream waits for ${owed} names, and at most ${limits.namesPerStream} are allowed`);
    }
    const after = known?.subscription.names ?? NameSet.empty;
    if (after !== namesBefore) effects.push(...this.#foreignIn(type, after));
    const demanded = this.#options.onDemand?.has(type.typeUrl) ? this.#demand(type, request, namesBefore) : undefined;
    return demanded === undefined ? effects : [...effects, demanded];
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

  #respond(asker: Asker, snapshot: Snapshot, node: Node): OutgoingResponse | undefined {
    const { type, api } = asker;
    const current = snapshot.of(type);
    this.#rules.settleClaims(asker, current, this.#surroundings);
    this.#warming.delete(type.typeUrl);
    if (this.#opensAll && type.absence === "unresolved") this.#openAll(asker, snapshot);
    const errors = this.#errorsToTell(asker);
    if (isUpToDate(asker, current)) return undefined;
    const undecided = undecidedIn(asker, current);
    if (this.#options.variant === "sotw" && mustWait(asker, undecided)) return undefined;
    const later = among(asker.owed, undecided);
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
    const response = sharedResponse(this.#rules, need, this.#head(asker, current));
    holdAll(asker, current, later);
    if (response === undefined) return undefined;

    const isWhole = this.#rules.variant === "sotw" && type.fullState;
    noteLifetimes(asker, response.perishable, isWhole || need.everything || need.held.size === 0);
    this.#warm(asker, response.content, current);
    return this.#send(asker, response, false);
  }

  /** Undefined: the client is told none. Otherwise what it names and was not answered is owed: SotW has no other way to say that there is none. */
  #errorsToTell(asker: Asker): ErrorsToTell | undefined {
    if (!this.#tellsErrors) return undefined;
    if (asker.unanswered && asker.type.schema !== undefined) asker.owed = asker.owed.with(asker.subscription.names);
    asker.unanswered = false;
    return { known: asker.errors, authorities: this.#options.authorities };
  }

  /** Authorities that the client was noted to ask for in vain. */
  #foreignIn(type: ResourceType, names: NameSet): readonly StreamEffect[] {
    const { authorities } = this.#options;
    if (authorities === undefined || this.#foreign.size >= mostForeign) return [];
    const found: StreamEffect[] = [];
    for (const name of names) {
      const authority = foreignAuthority(name, authorities);
      if (authority === undefined || this.#foreign.has(authority) || this.#foreign.size >= mostForeign) continue;
      this.#foreign.add(authority);
      found.push({ kind: "foreign", type, authority });
    }
    return found;
  }

  /** What starts the client's TTLs anew, where it is time; it holds all that it is to hold. */
  #heartbeat(asker: Asker): OutgoingResponse | undefined {
    const { api, subscription, held, lifetimes, tellsVariants } = asker;
    if (lifetimes === undefined || lifetimes.due === 0) return undefined;
    const { due: interval, rejected } = lifetimes;
    lifetimes.due = 0;
    // Envoy on the wire, 3: heartbeats without a body do not reach its timers in SotW, and clients of gRPC reject them.
    const whole = lifetimes.whole || this.#rules.variant === "sotw";
    const of = { api, subscription, held, current: held, tellsVariants };
    const need = { ...heldAll, ...of, variant: this.#rules.variant };
    const head = this.#head(asker, held);
    const response = sharedHeartbeat(this.#rules, { ...need, interval, rejected, whole }, head);
    return response && this.#send(asker, response, true);
  }

  #head({ type, api, tellsVariants }: Asker, { version }: ResourceSet): ResponseHead {
    return { typeUrl: typeUrlIn(type, api), api, version, ttl: this.#isToldTtl(type), variants: tellsVariants };
  }

  #send(asker: Asker, { content, body, perishable }: SharedResponse, isHeartbeat: boolean): OutgoingResponse {
    const { type, held, lastSent } = asker;
    const { version } = held;
    const count = ++this.#sent;
    const nonce = String(count);
    const heartbeats = content.heartbeats?.length ?? 0;
    // Rule 123: after a heartbeat nothing warms, so that nobody asks again because of it.
    const order = isHeartbeat ? (lastSent?.order ?? 0) : count;
    const sent = { nonce, version, order, perishable, isHeartbeat, isBare: heartbeats > 0 };
    this.#rules.noteSent(asker, sent);
    asker.lastSent = sent;
    const resources = content.resources.length + content.unresolved.length + heartbeats;
    const removed = content.removed.length + (content.removedVariants?.length ?? 0);
    return { type, nonce, version, resources, removed, isHeartbeat, body, tail: writeNonce(nonce) };
  }

  /** Envoy on the wire, 7: its first request on a stream of their own does not say whose virtual hosts it waits for. */
  #openAll(asker: Asker, snapshot: Snapshot): void {
    this.#opensAll = false;
    for (const type of this.#options.types) {
      if (!type.warmedBy.includes(asker.type.typeUrl)) continue;
      asker.owed = asker.owed.with(openingsOfAll(snapshot.of(type), asker.type.typeUrl));
    }
  }

  /** Rules 121, 122: what the client now warms waits for its dependencies, which are sent next. */
  #warm({ type }: Asker, content: Content, current: ResourceSet): void {
    if (content.fresh.length === 0 || this.#options.only !== undefined) return;
    for (const url of type.warmedBy) {
      const dependent = this.#askers.get(url);
      const isOpened = this.#options.types.byTypeUrl(url)?.type.absence === "unresolved";
      if (dependent === undefined) {
        // A reconnecting client will claim to have them; it must get them all the same.
        const warming = this.#warming.get(url) ?? new WarmingNames(url);
        this.#warming.set(url, warming);
        warming.add(content, current, isOpened ? "openings" : "names");
      } else if (isOpened) {
        dependent.owed = dependent.owed.with(openingsReferredTo(content, url));
      } else if (!dependent.everything) {
        dependent.owed = dependent.owed.with(namesToWarm(content, url, dependent.subscription));
      }
    }
  }

  #exhausted(message: string): readonly StreamEffect[] {
    return this.#close(statusCode.resourceExhausted, message);
  }

  #close(code: StatusCode, message: string): readonly StreamEffect[] {
    this.#closed = true;
    this.#askers.clear();
    this.#ordered = [];
    this.#newest = undefined;
    this.#begun = undefined;
    return [{ kind: "close", code, message }];
  }
}
