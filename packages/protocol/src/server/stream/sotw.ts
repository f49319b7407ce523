import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { longestText } from "../../model/basics/limits.js";
import { NameSet } from "../../model/names/name-set.js";
import { emptyResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { type Subscription, sameSubscription } from "../../model/subscribed/subscription.js";
import { type NamesIdentity, sameNames } from "../../wire/requests/names.js";
import { readSotwRequest, type SotwRequest } from "../../wire/requests/requests.js";
import { sotwRest } from "../../wire/responses/response-rest.js";
import { writeSotwBody } from "../../wire/responses/responses.js";
import { answered } from "../acknowledgements/answers.js";
import { noteAsked, noteDropped } from "../acknowledgements/unconfirmed-names.js";
import type { StreamEffect } from "../contract/effects.js";
import { demandOfSotw } from "../requests/demand.js";
import { usualAnswerOf } from "../requests/usual-answers.js";
import { type Content, lacking, type ResponseNeed } from "../responses/content.js";
import { errorsIn } from "../responses/errors-in.js";
import { isEarlierNonce } from "../responses/outgoing.js";
import { isAnswered, type NumberedResponse } from "../state/exchange.js";
import { find, subscribed } from "../state/find.js";
import { sentState } from "../state/sent-state.js";
import { nextSotwSubscription, type SotwSubscription } from "../state/sotw-subscription.js";
import type { Subscriber } from "../state/subscriber.js";
import type { SotwOrDeltaRules, Surroundings } from "./sotw-or-delta-rules.js";

/**
 * The machine's memory of a SotW client. Each request repeats the whole subscription, and the nonce decides whether a
 * request counts (rules 27–30).
 */
export interface SotwSubscriber extends Subscriber {
  subscription: SotwSubscription;
  /**
   * The part of the subscription that all stale requests have, too, since the last request that counted. A client drops
   * the resource of a name that it leaves out, whether or not the request counts. Undefined: all of it.
   */
  repeatedPart: Subscription | undefined;
  /** The names of the last request that counted, to recognise repetitions. */
  lastNames: NamesIdentity;
  /**
   * Set if the last response is a heartbeat that went out before the response before it was answered: that response.
   * Its answer still counts, though its nonce is old.
   */
  crossed: NumberedResponse | undefined;
  /** The version that a (re)connecting client said it has, until there is a snapshot to compare with. */
  claimed: Version | undefined;
}

/**
 * State of the world (SotW): how requests change a client's subscription and pending names, and the content of a
 * response.
 */
export const sotw: SotwOrDeltaRules<SotwRequest, SotwSubscriber> = {
  sotwOrDelta: "sotw",
  read: readSotwRequest,
  countNames: ({ names }) => names.length,
  hasLocators: ({ names }) => names.hasLocators,

  begin(empty, request, surroundings) {
    // Rule 30: any nonce in the first request is of another stream.
    const { type } = empty;
    const subscriber: SotwSubscriber = Object.assign(empty, {
      isWhole: type.fullState,
      subscription: next(undefined, request, type, surroundings),
      repeatedPart: undefined,
      lastNames: request.names.identity,
      crossed: undefined,
      claimed: undefined,
    });
    startAnew(subscriber, request);
    return subscriber;
  },

  receive(subscriber, request, surroundings, now) {
    const { exchange, type } = subscriber;
    const { lastSent } = exchange;
    const sameAsBefore = sameNames(request.names.identity, subscriber.lastNames);
    const repeated = sameAsBefore && subscriber.repeatedPart === undefined;
    // Rule 30: before the first response, any nonce in a request is of another stream. The request counts, since no
    // acknowledgement with its names will follow.
    if (request.nonce === "" || lastSent === undefined) {
      // As in rule 104, there is nothing new. Rule 11: a burst of requests before the first answer counts as one. A
      // client that has rejected everything so far has no good nonce to ask with.
      if (repeated && lastSent !== undefined) {
        asksAgain(subscriber, surroundings);
        return [];
      }
      const before = subscriber.subscription;
      const kept = takeRepeatedPart(subscriber);
      subscribe(subscriber, request, surroundings);
      noteAsked(subscriber, subscriber.subscription.names, kept);
      // gRPC on the wire, 3: a second watch, or a growing list before the first answer. Each request replaces the last.
      if (lastSent === undefined) startAnew(subscriber, request);
      else answerEverything(subscriber);
      return sameSubscription(before, subscriber.subscription) ? [] : [subscribedEffect(subscriber)];
    }
    if (request.nonce === subscriber.crossed?.nonce) {
      const { crossed } = subscriber;
      subscriber.crossed = undefined;
      if (!sameAsBefore) noteLeftOut(subscriber, request, surroundings);
      return [answered(subscriber, crossed, request.error, now, "superseded")];
    }
    if (request.nonce !== lastSent.nonce) {
      // Interop 5: the client rejected the last response and goes on with the nonce of the last good one. The request
      // is no answer, but no other request will have the names.
      if (isAnswered(exchange) && isEarlierNonce(request.nonce, lastSent.count)) {
        if (!repeated) return changeNames(subscriber, request, surroundings);
        return asksAgain(subscriber, surroundings) ? [] : [{ kind: "stale", type }];
      }
      // Rules 27–29: an old nonce. New names are ignored too. The client repeats them when it answers the response on
      // its way. A rejection of a known response counts, whatever was sent since.
      if (!sameAsBefore && isEarlierNonce(request.nonce, lastSent.count))
        noteLeftOut(subscriber, request, surroundings);
      const known = exchange.inFlight.find(({ nonce }) => nonce === request.nonce);
      const effect = known && answered(subscriber, known, request.error, now, "superseded");
      return [effect?.kind === "rejected" ? effect : { kind: "stale", type }];
    }

    const effects: StreamEffect[] = [];
    // A repetition after the answer is not another one (rule 6; gRPC on the wire, 5).
    if (!isAnswered(exchange)) {
      subscriber.crossed = undefined;
      effects.push(answered(subscriber, lastSent, request.error, now, "superseded"));
      const isPlain = repeated && request.error === undefined;
      if (isPlain) subscriber.usual ??= usualAnswerOf(request, answerFields, lastSent, subscriber.subscription.names);
    } else if (repeated) asksAgain(subscriber, surroundings);
    return repeated ? effects : [...effects, ...changeNames(subscriber, request, surroundings)];
  },

  demand: (_request, before, after) => demandOfSotw(before, after),

  compareClaims(subscriber, current, surroundings) {
    const { claimed, subscription, type } = subscriber;
    if (claimed === undefined) return;
    subscriber.claimed = undefined;
    // The version does not say which resources the client has lost since because their TTL ended.
    if (surroundings.tellsTtl(subscriber) && ResourceSets.perishable(current) !== undefined) return;
    // Nor does it say which variants the client has: it may have asked with other parameters.
    if (ResourceSets.hasVariants(current)) return;
    // Rule 33, and the choice on reconnects: only if the version surely covers everything that the client asks for now.
    if (claimed !== current.version || !type.fullState || !subscription.wildcard || subscription.names.size > 0) return;
    const { pending, everything } = subscriber.sent;
    subscriber.sent = sentState(current, pending, everything, false);
  },

  hasAll({ claimed, type, subscription: { wildcard, names } }, set) {
    if (claimed === undefined || claimed === set.version) return claimed === undefined ? undefined : true;
    // An older version of a response to names may have the contents that the newest set has under them.
    const isOfAll = type.fullState && wildcard && names.size === 0;
    return isOfAll ? false : undefined;
  },

  claimOf: ({ claimed }) => claimed,

  // The claim is only a short version (`startAnew`), so it is not counted.
  claimsOf: () => undefined,

  content(need) {
    return need.current.type.fullState ? fullState(need) : changedAndPending(need);
  },

  bodyKey(need, contentKey) {
    if (!need.current.type.fullState || need.errors !== undefined) return contentKey;
    // The whole set is the same whatever the client holds.
    const { current, subscription, api, tellsVariants } = need;
    const { names, wildcard, parameters = "" } = subscription;
    return `full${api} ${ResourceSets.id(current)} ${names.id} ${wildcard} ${tellsVariants} ${parameters}`;
  },

  write: (head, content) => writeSotwBody(head, content.resources, content.errors),
  rest: (head, content, from) => sotwRest(head, content.resources, content.errors ?? [], from),

  noteUsual(subscriber) {
    subscriber.crossed = undefined;
  },

  noteSent(subscriber, { isHeartbeat }) {
    if (!isHeartbeat) subscriber.crossed = undefined;
    else if (!isAnswered(subscriber.exchange)) subscriber.crossed ??= subscriber.exchange.lastSent;
  },
};

/** The field numbers of a `DiscoveryRequest`. */
const answerFields = { version: 1, node: 2, nonce: 5 } as const;

/** Rules 60–67: everything subscribed, as soon as any of it changed. */
function fullState(need: ResponseNeed): Content | undefined {
  const { fresh, gone } = lacking(need);
  const errors = errorsIn(need, gone);
  const due =
    errors.length > 0 ||
    need.mustAnswer ||
    need.everything ||
    need.pending.size > 0 ||
    fresh.length > 0 ||
    gone.length > 0;
  if (!due) return undefined;
  const resources = subscribed(need.subscription, need.current);
  return {
    resources,
    removed: [],
    unresolved: [],
    errors,
    fresh: need.everything ? resources : freshAndPending(fresh, need),
  };
}

/** New, changed and pending resources, each once. */
function freshAndPending(fresh: readonly Resource[], { pending, current }: ResponseNeed): readonly Resource[] {
  if (pending.size === 0) return fresh;
  const resources = new Set(fresh);
  for (const name of pending) for (const resource of find(current, name)) resources.add(resource);
  return [...resources];
}

/** Rules 68–79: changed and pending resources. Removed ones are not mentioned (rule 74). */
function changedAndPending(need: ResponseNeed): Content | undefined {
  const { fresh, gone } = lacking(need);
  const resources = need.everything ? subscribed(need.subscription, need.current) : freshAndPending(fresh, need);
  const errors = errorsIn(need, gone);
  if (resources.length + errors.length === 0 && !need.mustAnswer) return undefined;
  return { resources, removed: [], unresolved: [], errors, fresh: resources };
}

function next(
  before: SotwSubscription | undefined,
  { names }: SotwRequest,
  type: ResourceType,
  surroundings: Surroundings,
): SotwSubscription {
  const asked = surroundings.namesIn(names, type);
  const { wildcard, names: named, everNamed, sticky } = nextSotwSubscription(before, asked, type, surroundings.api);
  return { wildcard, names: named, everNamed, sticky, parameters: names.wildcardParameters };
}

function subscribe(subscriber: SotwSubscriber, request: SotwRequest, surroundings: Surroundings): void {
  const { identity } = request.names;
  if (sameNames(identity, subscriber.lastNames)) return;
  subscriber.subscription = next(subscriber.subscription, request, subscriber.type, surroundings);
  subscriber.lastNames = identity;
  subscriber.usual = undefined;
}

/** Rules 27, 70: a name that a stale request leaves out is resent if the next request that counts has it again. */
function noteLeftOut(subscriber: SotwSubscriber, request: SotwRequest, surroundings: Surroundings): void {
  const { subscription, repeatedPart = subscription, type } = subscriber;
  const { wildcard, names } = next(subscription, request, type, surroundings);
  const part = {
    wildcard: repeatedPart.wildcard && wildcard,
    names: repeatedPart.names.without(repeatedPart.names.notIn(names)),
    parameters: subscription.parameters,
  };
  if (sameSubscription(part, subscription)) return;
  subscriber.repeatedPart = part;
  subscriber.usual = undefined;
}

/** The part of the subscription that no request since the last one that counted left out. */
function takeRepeatedPart(subscriber: SotwSubscriber): Subscription {
  const { repeatedPart = subscriber.subscription, subscription } = subscriber;
  subscriber.repeatedPart = undefined;
  noteDropped(subscriber, subscription.names.notIn(repeatedPart.names));
  return repeatedPart;
}

/** Takes a new list of names in the middle of a stream. */
function changeNames(
  subscriber: SotwSubscriber,
  request: SotwRequest,
  surroundings: Surroundings,
): readonly StreamEffect[] {
  const before = subscriber.subscription;
  const kept = takeRepeatedPart(subscriber);
  subscribe(subscriber, request, surroundings);
  const { subscription } = subscriber;
  noteAsked(subscriber, subscription.names, kept);
  const isSame = sameSubscription(before, subscription);
  if (isSame && sameSubscription(kept, subscription)) return [];
  const { wildcard, parameters } = subscription;
  if (wildcard && (!kept.wildcard || parameters !== kept.parameters)) answerEverything(subscriber);
  else addNewNames(subscriber, kept);
  return isSame ? [] : [subscribedEffect(subscriber)];
}

/**
 * Rule 123: whether a request that looks like a repeated acknowledgement is a question. If so, it is answered once: the
 * answer comes after the type that made the client ask.
 */
function asksAgain(subscriber: SotwSubscriber, surroundings: Surroundings): boolean {
  if (!isAnswered(subscriber.exchange) || !surroundings.sentBefore(subscriber)) return false;
  const { set, pending, mustAnswer } = subscriber.sent;
  subscriber.sent = sentState(set, pending, true, mustAnswer);
  return true;
}

/**
 * Handles the first request of a type, or one that replaces it. The client holds nothing, unless its version shows
 * otherwise (`compareClaims`).
 */
function startAnew(subscriber: SotwSubscriber, request: SotwRequest): void {
  subscriber.sent = sentState(emptyResourceSet(subscriber.type), NameSet.empty, false, waits(subscriber));
  // No server of ours makes a longer version.
  subscriber.claimed = request.version === "" || request.version.length > longestText ? undefined : request.version;
  subscriber.awaitsAbsences = true;
}

/** Makes everything due that the client is subscribed to, even if it holds it. */
function answerEverything(subscriber: SotwSubscriber): void {
  subscriber.awaitsAbsences = true;
  subscriber.sent = sentState(subscriber.sent.set, NameSet.empty, isInterested(subscriber), waits(subscriber));
}

/**
 * Whether the client cannot go on without a response, even an empty one. That is so for a full state, which is empty to
 * say that there is nothing. Absent names of other types have no answer (rule 72), nor do types that this server does
 * not know (rule 161).
 */
function waits({ type, subscription: { wildcard, names } }: SotwSubscriber): boolean {
  if (type.schema === undefined) return false;
  return wildcard || (type.fullState && names.size > 0);
}

function isInterested({ subscription: { wildcard, names } }: SotwSubscriber): boolean {
  return wildcard || names.size > 0;
}

/**
 * Rules 69–71, 75: names that the previous request did not have are pending, whatever was sent earlier. Dropped names
 * are not.
 */
function addNewNames(subscriber: SotwSubscriber, before: Subscription): void {
  const { wildcard, names } = subscriber.subscription;
  const { set, pending, everything, mustAnswer } = subscriber.sent;
  const added: ResourceName[] = [];
  for (const name of names) if (!before.names.has(name)) added.push(name);
  const dropped: ResourceName[] = [];
  // Under a wildcard the client still wants dropped names: for example, a load assignment that a cluster waits for.
  if (!wildcard) for (const name of pending) if (!names.has(name)) dropped.push(name);
  subscriber.sent = sentState(
    set,
    pending.without(dropped).with(NameSet.of(added)),
    // The client may have dropped its whole subscription before the wildcard was answered.
    everything && isInterested(subscriber),
    // Rule 65, and the choice for a shrinking list: the client must have exactly the names that it asks for.
    (subscriber.type.fullState || mustAnswer) && waits(subscriber),
  );
}

function subscribedEffect({ type, subscription: { wildcard, names } }: SotwSubscriber): StreamEffect {
  return { kind: "subscribed", type, wildcard, names: names.size };
}
