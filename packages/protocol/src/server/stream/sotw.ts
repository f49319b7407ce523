import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { longestText } from "../../model/limits.js";
import { NameSet } from "../../model/names/name-set.js";
import { emptyResourceSet, ResourceSets } from "../../model/resource-set.js";
import { sameSubscription } from "../../model/subscription.js";
import { type NamesIdentity, sameNames } from "../../wire/names.js";
import { readSotwRequest, type SotwRequest } from "../../wire/requests.js";
import { sotwRest } from "../../wire/response-rest.js";
import { writeSotwBody } from "../../wire/responses.js";
import { answered } from "../acknowledgements/answers.js";
import { noteAsked } from "../acknowledgements/unconfirmed-names.js";
import type { StreamEffect } from "../contract/effects.js";
import { demandOfSotw } from "../requests/demand.js";
import { usualAnswerOf } from "../requests/usual-answers.js";
import { type Content, lacking, type Need } from "../responses/content.js";
import { errorsIn } from "../responses/errors-in.js";
import { isEarlierNonce } from "../responses/outgoing.js";
import type { Sent } from "../state/client-use.js";
import { find, subscribed } from "../state/find.js";
import { sentState } from "../state/sent-state.js";
import { nextSotwSubscription, type SotwSubscription } from "../state/sotw-subscription.js";
import type { Subscriber } from "../state/subscriber.js";
import type { Surroundings, VariantRules } from "./sotw-or-delta-rules.js";

/**
 * What is remembered of a SotW client. Each of its requests repeats the whole subscription, and the nonce decides
 * whether a request counts (rules 27–30).
 */
export interface SotwSubscriber extends Subscriber {
  subscription: SotwSubscription;
  /** The names of the last request that counted, for telling repetitions. */
  lastNames: NamesIdentity;
  /**
   * The last response was answered. What clients repeat after that is no further answer (rule 6; gRPC on the wire, 5).
   */
  settled: boolean;
  /**
   * The response before the last one, while that is a heartbeat sent before this one was answered: the answer to this
   * one still counts, though its nonce is old.
   */
  crossed: Sent | undefined;
  /** The version that a (re)connecting client said to have, until the snapshot is there to compare with. */
  claimed: Version | undefined;
}

/**
 * The state-of-the-world variant: how requests change what a client is subscribed to and which names are pending, and
 * what a response says.
 */
export const sotw: VariantRules<SotwRequest, SotwSubscriber> = {
  variant: "sotw",
  read: readSotwRequest,
  countNames: ({ names }) => names.length,
  hasLocators: ({ names }) => names.hasLocators,

  begin(empty, request, surroundings) {
    // Rule 30: whatever nonce the first request carries, it is of another stream.
    const { type } = empty;
    const subscriber: SotwSubscriber = Object.assign(empty, {
      isWhole: type.fullState,
      subscription: next(undefined, request, type, surroundings),
      lastNames: request.names.identity,
      settled: true,
      crossed: undefined,
      claimed: undefined,
    });
    startAnew(subscriber, request);
    return subscriber;
  },

  receive(subscriber, request, surroundings, now) {
    const { lastSent, type } = subscriber;
    const repeated = sameNames(request.names.identity, subscriber.lastNames);
    // Rule 30: before the first response, whatever nonce a request carries is of another stream. It counts, since no
    // acknowledgement will follow that repeats its names.
    if (request.nonce === "" || lastSent === undefined) {
      // Rule 104's like: nothing new. Rule 11: a burst of requests before the first answer is one.
      // A client that rejected everything so far has no good nonce to ask with.
      if (repeated && lastSent !== undefined) {
        asksAgain(subscriber, surroundings);
        return [];
      }
      const before = subscriber.subscription;
      subscribe(subscriber, request, surroundings);
      noteAsked(subscriber, subscriber.subscription.names, before);
      // gRPC on the wire, 3: a second watch, or a growing list before the first answer; each supersedes the last.
      if (lastSent === undefined) startAnew(subscriber, request);
      else answerEverything(subscriber);
      return sameSubscription(before, subscriber.subscription) ? [] : [subscribedEffect(subscriber)];
    }
    if (request.nonce === subscriber.crossed?.nonce) {
      const { crossed } = subscriber;
      subscriber.crossed = undefined;
      return [answered(subscriber, crossed, request.error, now, "superseded")];
    }
    if (request.nonce !== lastSent.nonce) {
      // Interop 5: the client rejected the last response, and goes on with the nonce of the last good one.
      // That answers nothing, but no other request will carry the names.
      if (subscriber.settled && isEarlierNonce(request.nonce, lastSent.count)) {
        if (!repeated) return changeNames(subscriber, request, surroundings);
        return asksAgain(subscriber, surroundings) ? [] : [{ kind: "stale", type }];
      }
      // Rules 27–29: an old nonce. New names are ignored as well: the client repeats them when it answers the response
      // that it has not seen yet. A rejection of a known response is true whatever was sent since.
      const known = subscriber.inFlight.find(({ nonce }) => nonce === request.nonce);
      const effect = known && answered(subscriber, known, request.error, now, "superseded");
      return [effect?.kind === "rejected" ? effect : { kind: "stale", type }];
    }

    const effects: StreamEffect[] = [];
    if (!subscriber.settled) {
      subscriber.settled = true;
      subscriber.crossed = undefined;
      effects.push(answered(subscriber, lastSent, request.error, now, "superseded"));
      const isPlain = repeated && request.error === undefined;
      if (isPlain) subscriber.usual ??= usualAnswerOf(request, answerFields, lastSent, subscriber.subscription.names);
    } else if (repeated) asksAgain(subscriber, surroundings);
    return repeated ? effects : [...effects, ...changeNames(subscriber, request, surroundings)];
  },

  demand: (_request, before, after) => demandOfSotw(before, after),

  settleClaims(subscriber, current, surroundings) {
    const { claimed, subscription, type } = subscriber;
    if (claimed === undefined) return;
    subscriber.claimed = undefined;
    // The version does not say which resources the client lost since, because their TTL was over.
    if (surroundings.tellsTtl(subscriber) && ResourceSets.perishable(current) !== undefined) return;
    // Nor does it say which variants it has: it may have asked with other parameters then.
    if (ResourceSets.hasVariants(current)) return;
    // Rule 33, and the choice on reconnects: only where it is sure that the version speaks of all that is asked for
    // now.
    if (claimed !== current.version || !type.fullState || !subscription.wildcard || subscription.names.size > 0) return;
    const { pending, everything } = subscriber.sent;
    subscriber.sent = sentState(current, pending, everything, false);
  },

  hasAll({ claimed, type, subscription: { wildcard, names } }, set) {
    // The version of a response to names says nothing of the whole set.
    const isOfAll = type.fullState && wildcard && names.size === 0;
    return claimed === undefined || !isOfAll ? undefined : claimed === set.version;
  },

  // A version, which is short (`startAnew`).
  claimsOf: () => undefined,

  content(need) {
    return need.current.type.fullState ? fullState(need) : changed(need);
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
    subscriber.settled = true;
    subscriber.crossed = undefined;
  },

  noteSent(subscriber, { isHeartbeat }) {
    if (!isHeartbeat) subscriber.crossed = undefined;
    else if (!subscriber.settled) subscriber.crossed ??= subscriber.lastSent;
    subscriber.settled = false;
  },
};

/** The field numbers of a `DiscoveryRequest`. */
const answerFields = { version: 1, node: 2, nonce: 5 } as const;

/** Rules 60–67: all that is subscribed to, as soon as any of it changed. */
function fullState(need: Need): Content | undefined {
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
    fresh: need.everything ? resources : withPending(fresh, need),
  };
}

/** What is new to the client or changed, and what is pending, each once. */
function withPending(fresh: readonly Resource[], { pending, current }: Need): readonly Resource[] {
  if (pending.size === 0) return fresh;
  const resources = new Set(fresh);
  for (const name of pending) for (const resource of find(current, name)) resources.add(resource);
  return [...resources];
}

/** Rules 68–79: what changed, and what is pending. What went away is not spoken of (rule 74). */
function changed(need: Need): Content | undefined {
  const { fresh, gone } = lacking(need);
  const resources = need.everything ? subscribed(need.subscription, need.current) : withPending(fresh, need);
  const errors = errorsIn(need, gone);
  if (resources.length + errors.length === 0 && !need.mustAnswer) return undefined;
  return { resources, removed: [], unresolved: [], errors, fresh: resources };
}

function next(
  before: SotwSubscription | undefined,
  { names }: SotwRequest,
  type: ResourceType,
  { api }: Surroundings,
): SotwSubscription {
  const { wildcard, names: named, everNamed, sticky } = nextSotwSubscription(before, names.toSet(), type, api);
  return { wildcard, names: named, everNamed, sticky, parameters: names.wildcardParameters };
}

function subscribe(subscriber: SotwSubscriber, request: SotwRequest, surroundings: Surroundings): void {
  const { identity } = request.names;
  if (sameNames(identity, subscriber.lastNames)) return;
  subscriber.subscription = next(subscriber.subscription, request, subscriber.type, surroundings);
  subscriber.lastNames = identity;
  subscriber.usual = undefined;
}

/** Takes other names than those of before, in the middle of a stream. */
function changeNames(
  subscriber: SotwSubscriber,
  request: SotwRequest,
  surroundings: Surroundings,
): readonly StreamEffect[] {
  const before = subscriber.subscription;
  subscribe(subscriber, request, surroundings);
  noteAsked(subscriber, subscriber.subscription.names, before);
  if (sameSubscription(before, subscriber.subscription)) return [];
  const { wildcard, parameters } = subscriber.subscription;
  if (wildcard && (!before.wildcard || parameters !== before.parameters)) answerEverything(subscriber);
  else addNewNames(subscriber, before);
  return [subscribedEffect(subscriber)];
}

/**
 * Rule 123: whether a request that looks like a repeated acknowledgement is a question. If so, it is answered once,
 * since then this type is sent after the one that made the client ask.
 */
function asksAgain(subscriber: SotwSubscriber, surroundings: Surroundings): boolean {
  if (!subscriber.settled || !surroundings.sentBefore(subscriber)) return false;
  const { set, pending, mustAnswer } = subscriber.sent;
  subscriber.sent = sentState(set, pending, true, mustAnswer);
  return true;
}

/**
 * The first request of a type, or one that takes its place: the client holds nothing, unless its version shows
 * otherwise (`settleClaims`).
 */
function startAnew(subscriber: SotwSubscriber, request: SotwRequest): void {
  subscriber.sent = sentState(emptyResourceSet(subscriber.type), NameSet.empty, false, waits(subscriber));
  // A longer version is none of a server of ours.
  subscriber.claimed = request.version === "" || request.version.length > longestText ? undefined : request.version;
  subscriber.unanswered = true;
}

/** All that the client is subscribed to is to be sent, also what it holds. */
function answerEverything(subscriber: SotwSubscriber): void {
  subscriber.unanswered = true;
  subscriber.sent = sentState(subscriber.sent.set, NameSet.empty, isInterested(subscriber), waits(subscriber));
}

/**
 * Whether the client cannot go on without a response, even an empty one. So it is with a full state, which says that
 * there is nothing by being empty. Names of other types that do not exist have no answer (rule 72), nor do types that
 * this server does not know (rule 161).
 */
function waits({ type, subscription: { wildcard, names } }: SotwSubscriber): boolean {
  if (type.schema === undefined) return false;
  return wildcard || (type.fullState && names.size > 0);
}

function isInterested({ subscription: { wildcard, names } }: SotwSubscriber): boolean {
  return wildcard || names.size > 0;
}

/**
 * Rules 69–71, 75: names that were not in the request before are pending, whatever was sent earlier; names that were
 * dropped are not.
 */
function addNewNames(subscriber: SotwSubscriber, before: SotwSubscription): void {
  const { wildcard, names } = subscriber.subscription;
  const { set, pending, everything, mustAnswer } = subscriber.sent;
  const added: ResourceName[] = [];
  for (const name of names) if (!before.names.has(name)) added.push(name);
  const dropped: ResourceName[] = [];
  // Under a wildcard the client wants dropped names all the same: a load assignment that a cluster waits for, say.
  if (!wildcard) for (const name of pending) if (!names.has(name)) dropped.push(name);
  subscriber.sent = sentState(
    set,
    pending.without(dropped).with(NameSet.of(added)),
    // The client may be subscribed to nothing any more, before the wildcard was answered.
    everything && isInterested(subscriber),
    // Rule 65, and the choice for a list that shrinks: the client must have exactly what it names.
    (subscriber.type.fullState || mustAnswer) && waits(subscriber),
  );
}

function subscribedEffect({ type, subscription: { wildcard, names } }: SotwSubscriber): StreamEffect {
  return { kind: "subscribed", type, wildcard, names: names.size };
}
