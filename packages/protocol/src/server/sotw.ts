import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { type NamesIdentity, sameNames } from "../messages/names.js";
import { readSotwRequest, type SotwRequest } from "../messages/requests.js";
import { sotwRest } from "../messages/response-rest.js";
import { writeSotwBody } from "../messages/responses.js";
import { NameSet } from "../name-set.js";
import { emptyResourceSet, ResourceSets } from "../resource-set.js";
import { sameSubscription } from "../subscription.js";
import { answered } from "./answers.js";
import type { Sent } from "./client-use.js";
import { type Content, find, lacking, type Need, subscribed } from "./content.js";
import type { StreamEffect } from "./contract.js";
import { demandOfSotw } from "./demand.js";
import { errorsIn } from "./errors-in.js";
import { noteAsked } from "./just-asked.js";
import { isEarlierNonce } from "./outgoing.js";
import { nextSotwSubscription, type SotwSubscription } from "./sotw-subscription.js";
import type { Subscriber } from "./subscriber.js";
import { usualAnswerOf } from "./usual-answers.js";
import type { Surroundings, VariantRules } from "./variant.js";

/** What is remembered of a SotW client. Each of its requests repeats the whole subscription, and the nonce decides whether a request counts (rules 27–30). */
export interface SotwSubscriber extends Subscriber {
  subscription: SotwSubscription;
  /** The names of the last request that counted, for telling repetitions. */
  lastNames: NamesIdentity;
  /** The last response was answered. What clients repeat after that is no further answer (rule 6; gRPC on the wire, 5). */
  settled: boolean;
  /** The response before the last one, while that is a heartbeat sent before this one was answered: the answer to this one still counts, though its nonce is old. */
  crossed: Sent | undefined;
  /** The version that a (re)connecting client said to have, until the snapshot is there to compare with. */
  claimed: Version | undefined;
}

/** The state-of-the-world variant: how requests change what a client is subscribed to and owed, and what a response says. */
export const sotw: VariantRules<SotwRequest, SotwSubscriber> = {
  variant: "sotw",
  read: readSotwRequest,
  countNames: ({ names }) => names.length,
  hasLocators: ({ names }) => names.hasLocators,

  begin(subscriber, request, surroundings) {
    // Rule 30: whatever nonce the first request carries, it is of another stream.
    const { type } = subscriber;
    const asker: SotwSubscriber = Object.assign(subscriber, {
      isWhole: type.fullState,
      subscription: next(undefined, request, type, surroundings),
      lastNames: request.names.identity,
      settled: true,
      crossed: undefined,
      claimed: undefined,
    });
    startAnew(asker, request);
    return asker;
  },

  receive(asker, request, surroundings, now) {
    const { lastSent, type } = asker;
    const repeated = sameNames(request.names.identity, asker.lastNames);
    // Rule 30: before the first response, whatever nonce a request carries is of another stream. It counts, since no acknowledgement will follow that repeats its names.
    if (request.nonce === "" || lastSent === undefined) {
      // Rule 104's like: nothing new. Rule 11: a burst of requests before the first answer is one.
      // A client that rejected everything so far has no good nonce to ask with.
      if (repeated && lastSent !== undefined) {
        asksAgain(asker, surroundings);
        return [];
      }
      const before = asker.subscription;
      subscribe(asker, request, surroundings);
      noteAsked(asker, asker.subscription.names, before);
      // gRPC on the wire, 3: a second watch, or a growing list before the first answer; each supersedes the last.
      if (lastSent === undefined) startAnew(asker, request);
      else answerEverything(asker);
      return sameSubscription(before, asker.subscription) ? [] : [subscribedEffect(asker)];
    }
    if (request.nonce === asker.crossed?.nonce) {
      const { crossed } = asker;
      asker.crossed = undefined;
      return [answered(asker, crossed, request.error, now, "superseded")];
    }
    if (request.nonce !== lastSent.nonce) {
      // Interop 5: the client rejected the last response, and goes on with the nonce of the last good one.
      // That answers nothing, but no other request will carry the names.
      if (asker.settled && isEarlierNonce(request.nonce, lastSent.count)) {
        if (!repeated) return changeNames(asker, request, surroundings);
        return asksAgain(asker, surroundings) ? [] : [{ kind: "stale", type }];
      }
      // Rules 27–29: an old nonce. New names are ignored as well: the client repeats them when it answers the response that it has not seen yet.
      // A rejection of a known response is true whatever was sent since.
      const known = asker.outstanding.find(({ nonce }) => nonce === request.nonce);
      const effect = known && answered(asker, known, request.error, now, "superseded");
      return [effect?.kind === "rejected" ? effect : { kind: "stale", type }];
    }

    const effects: StreamEffect[] = [];
    if (!asker.settled) {
      asker.settled = true;
      asker.crossed = undefined;
      effects.push(answered(asker, lastSent, request.error, now, "superseded"));
      const isPlain = repeated && request.error === undefined;
      if (isPlain) asker.usual ??= usualAnswerOf(request, answerFields, lastSent, asker.subscription.names);
    } else if (repeated) asksAgain(asker, surroundings);
    return repeated ? effects : [...effects, ...changeNames(asker, request, surroundings)];
  },

  demand: (_request, before, after) => demandOfSotw(before, after),

  settleClaims(asker, current, surroundings) {
    const { claimed, subscription, type } = asker;
    if (claimed === undefined) return;
    asker.claimed = undefined;
    // The version does not say which resources the client lost since, because their TTL was over.
    if (surroundings.tellsTtl(asker) && ResourceSets.perishable(current) !== undefined) return;
    // Nor does it say which variants it has: it may have asked with other parameters then.
    if (ResourceSets.hasVariants(current)) return;
    // Rule 33, and the choice on reconnects: only where it is sure that the version speaks of all that is asked for now.
    if (claimed !== current.version || !type.fullState || !subscription.wildcard || subscription.names.size > 0) return;
    asker.held = current;
    asker.mustAnswer = false;
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

  noteUsual(asker) {
    asker.settled = true;
    asker.crossed = undefined;
  },

  noteSent(asker, { isHeartbeat }) {
    if (!isHeartbeat) asker.crossed = undefined;
    else if (!asker.settled) asker.crossed ??= asker.lastSent;
    asker.settled = false;
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
    need.owed.size > 0 ||
    fresh.length > 0 ||
    gone.length > 0;
  if (!due) return undefined;
  const resources = subscribed(need.subscription, need.current);
  return { resources, removed: [], unresolved: [], errors, fresh: need.everything ? resources : withOwed(fresh, need) };
}

/** What is new to the client or changed, and what it is owed, each once. */
function withOwed(fresh: readonly Resource[], { owed, current }: Need): readonly Resource[] {
  if (owed.size === 0) return fresh;
  const resources = new Set(fresh);
  for (const name of owed) for (const resource of find(current, name)) resources.add(resource);
  return [...resources];
}

/** Rules 68–79: what changed, and what is owed. What went away is not spoken of (rule 74). */
function changed(need: Need): Content | undefined {
  const { fresh, gone } = lacking(need);
  const resources = need.everything ? subscribed(need.subscription, need.current) : withOwed(fresh, need);
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

function subscribe(asker: SotwSubscriber, request: SotwRequest, surroundings: Surroundings): void {
  const { identity } = request.names;
  if (sameNames(identity, asker.lastNames)) return;
  asker.subscription = next(asker.subscription, request, asker.type, surroundings);
  asker.lastNames = identity;
  asker.usual = undefined;
}

/** Takes other names than those of before, in the middle of a stream. */
function changeNames(asker: SotwSubscriber, request: SotwRequest, surroundings: Surroundings): readonly StreamEffect[] {
  const before = asker.subscription;
  subscribe(asker, request, surroundings);
  noteAsked(asker, asker.subscription.names, before);
  if (sameSubscription(before, asker.subscription)) return [];
  const { wildcard, parameters } = asker.subscription;
  if (wildcard && (!before.wildcard || parameters !== before.parameters)) answerEverything(asker);
  else oweNewNames(asker, before);
  return [subscribedEffect(asker)];
}

/**
 * Rule 123: whether a request that looks like a repeated acknowledgement is a question. If so, it is answered once,
 * since then this type is sent after the one that made the client ask.
 */
function asksAgain(asker: SotwSubscriber, surroundings: Surroundings): boolean {
  if (!asker.settled || !surroundings.sentBefore(asker)) return false;
  asker.everything = true;
  return true;
}

/** A longer version is none of a server of ours, and is not kept. */
const longestVersion = 512;

/** The first request of a type, or one that takes its place: the client holds nothing, unless its version shows otherwise (`settleClaims`). */
function startAnew(asker: SotwSubscriber, request: SotwRequest): void {
  asker.held = emptyResourceSet(asker.type);
  asker.owed = NameSet.empty;
  asker.everything = false;
  asker.mustAnswer = waits(asker);
  asker.claimed = request.version === "" || request.version.length > longestVersion ? undefined : request.version;
  asker.unanswered = true;
}

/** All that the client is subscribed to is to be sent, also what it holds. */
function answerEverything(asker: SotwSubscriber): void {
  asker.unanswered = true;
  asker.everything = isInterested(asker);
  asker.owed = NameSet.empty;
  asker.mustAnswer = waits(asker);
}

/**
 * Whether the client cannot go on without a response, even an empty one. So it is with a full state, which says that there is nothing by being empty. Names of other types that do
 * not exist have no answer (rule 72), nor do types that this server does not know (rule 161).
 */
function waits({ type, subscription: { wildcard, names } }: SotwSubscriber): boolean {
  if (type.schema === undefined) return false;
  return wildcard || (type.fullState && names.size > 0);
}

function isInterested({ subscription: { wildcard, names } }: SotwSubscriber): boolean {
  return wildcard || names.size > 0;
}

/** Rules 69–71, 75: names that were not in the request before are owed, whatever was sent earlier; names that were dropped are not. */
function oweNewNames(asker: SotwSubscriber, before: SotwSubscription): void {
  const { wildcard, names } = asker.subscription;
  const added: ResourceName[] = [];
  for (const name of names) if (!before.names.has(name)) added.push(name);
  const dropped: ResourceName[] = [];
  // Under a wildcard the client wants dropped names all the same: a load assignment that a cluster waits for, say.
  if (!wildcard) for (const name of asker.owed) if (!names.has(name)) dropped.push(name);
  asker.owed = asker.owed.without(dropped).with(NameSet.of(added));
  // The client may be subscribed to nothing any more, before the wildcard was answered.
  asker.everything &&= isInterested(asker);
  // Rule 65, and the choice for a list that shrinks: the client is to have exactly what it names.
  asker.mustAnswer = (asker.type.fullState || asker.mustAnswer) && waits(asker);
}

function subscribedEffect({ type, subscription: { wildcard, names } }: SotwSubscriber): StreamEffect {
  return { kind: "subscribed", type, wildcard, names: names.size };
}
