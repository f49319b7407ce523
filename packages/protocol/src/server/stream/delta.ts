import type { Resource, ResourceName } from "@xdskit/api";
import { nameOf } from "../../model/names/locator.js";
import { NameSet } from "../../model/names/name-set.js";
import { ResourceSets } from "../../model/sets/resource-set.js";
import { hasContent } from "../../model/sets/unknown-content.js";
import { calledName } from "../../model/sets/variant-index.js";
import { inCapitals, sameSubscription, wildcardName } from "../../model/subscribed/subscription.js";
import { knowsVariants, lostVariants, pendingByClaims } from "../../model/subscribed/variants.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import { type DeltaRequest, readDeltaRequest } from "../../wire/requests/requests.js";
import { deltaRest } from "../../wire/responses/response-rest.js";
import { writeDeltaBody } from "../../wire/responses/responses.js";
import { answered } from "../acknowledgements/answers.js";
import { beatAtOnce } from "../acknowledgements/lifetimes.js";
import { noteAsked } from "../acknowledgements/unconfirmed-names.js";
import type { StreamEffect } from "../contract/effects.js";
import { demandOfDelta } from "../requests/demand.js";
import { usualAnswerOf } from "../requests/usual-answers.js";
import { comparedClaims, isSet } from "../responses/compared-claims.js";
import { type Content, lacking, type ResponseNeed } from "../responses/content.js";
import { errorsIn, isPassing } from "../responses/errors-in.js";
import {
  type DeltaSubscription,
  type DeltaSubscriptionChange,
  nextDeltaSubscription,
} from "../state/delta-subscription.js";
import { find, subscribed } from "../state/find.js";
import { type SentState, sentState, withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import type { SotwOrDeltaRules, Surroundings } from "./sotw-or-delta-rules.js";

/**
 * The machine's memory of a delta client. Its requests change the subscription, and a nonce says only which response
 * they answer (rules 31, 32).
 */
export interface DeltaSubscriber extends Subscriber {
  subscription: DeltaSubscription;
  /** The versions that a reconnecting client said it has, until there is a snapshot to compare with. */
  claimed: ClaimedVersions | undefined;
}

/**
 * Incremental (delta): how requests change a client's subscription and pending names, and the content of a
 * response.
 */
export const delta: SotwOrDeltaRules<DeltaRequest, DeltaSubscriber> = {
  sotwOrDelta: "delta",
  read: readDeltaRequest,
  countNames: ({ subscribe, unsubscribe }) => subscribe.length + unsubscribe.length,
  hasLocators: ({ subscribe, unsubscribe }) => subscribe.hasLocators || unsubscribe.hasLocators,

  begin(subscriber, request, surroundings) {
    const { type } = subscriber;
    const isMeant = type.emptyFirstRequest === "wildcard" || !surroundings.sendsUnmeantWildcard();
    const asked = surroundings.namesIn(request.subscribe, type);
    const step = next(undefined, request, isMeant ? asked : asked.without([wildcardName]), subscriber, surroundings);
    const { wildcard } = step.subscription;
    const claimed = request.claimed.size === 0 ? undefined : request.claimed;
    // The other pending names are found when the claimed versions are compared (`compareClaims`).
    const pending = claimed === undefined ? step.pending : NameSet.empty;
    // Rule 59: without this response, a client that has nothing of a type would wait. A client that claims to have
    // everything does not wait (rule 105).
    const mustAnswer = wildcard && claimed === undefined && type.schema !== undefined;
    const sent = sentState(subscriber.sent.set, pending, false, mustAnswer);
    return Object.assign(subscriber, { subscription: step.subscription, claimed, sent });
  },

  receive(subscriber, request, surroundings, now) {
    const effects: StreamEffect[] = [];
    const response = subscriber.exchange.inFlight.find(({ nonce }) => nonce === request.nonce);
    // Delta clients answer each response, in order.
    if (response !== undefined) effects.push(answered(subscriber, response, request.error, now, "each"));
    if (request.subscribe.length === 0 && request.unsubscribe.length === 0) {
      const isPlain = response !== undefined && request.error === undefined;
      if (isPlain) subscriber.usual ??= usualAnswerOf(request, answerFields, response);
      return effects;
    }

    const before = subscriber.subscription;
    const asked = surroundings.namesIn(request.subscribe, subscriber.type);
    const step = next(before, request, asked, subscriber, surroundings);
    subscriber.subscription = step.subscription;
    subscriber.sent = sentAfter(subscriber.sent, step, before);
    noteAsked(subscriber, step.pending, before);
    if (sameSubscription(before, step.subscription)) return effects;
    const { wildcard, names } = step.subscription;
    return [...effects, { kind: "subscribed", type: subscriber.type, wildcard, names: names.size }];
  },

  demand: ({ subscribe, unsubscribe }, before, after) =>
    demandOfDelta(subscribe.toSet(), unsubscribe.toSet(), before, after),

  compareClaims(subscriber, current, surroundings) {
    const { claimed, subscription } = subscriber;
    if (claimed === undefined) return;
    subscriber.claimed = undefined;
    surroundings.claimsDropped(claimed);
    const { pending: before, everything, mustAnswer } = subscriber.sent;
    subscriber.sent = sentState(current, before, everything, mustAnswer);
    if (surroundings.tellsTtl(subscriber)) beatAtOnce(subscriber, current);
    const warming = surroundings.warming(subscriber);
    if (knowsVariants(current, subscription)) {
      if (isSet(claimed, current) && subscription.names.size === 0 && warming.size === 0) return;
      subscriber.sent = withPending(subscriber.sent, pendingByClaims(current, subscription, claimed.toMap(), warming));
      return;
    }
    const { pending, renamed } = comparedClaims(claimed, current, subscription, warming);
    // The client has its own resource under such a name, which has since become an alias of another resource.
    const set = renamed.size > 0 ? ResourceSets.branch(current, renamed) : current;
    subscriber.sent = sentState(set, before.with(pending), everything, mustAnswer);
  },

  hasAll({ claimed, subscription }, set) {
    if (claimed === undefined) return undefined;
    // Most clients have all of a type: they are told by their fingerprint, without a look at a name.
    const isAll = isSet(claimed, set);
    if (subscription.wildcard || isAll) return isAll;
    for (const [name, version] of claimed.toMap()) if (set.get(name)?.version !== version) return false;
    return true;
  },

  claimOf: ({ claimed }) => claimed,

  claimsOf: ({ claimed }) => claimed,

  content,
  bodyKey: (_need, contentKey) => contentKey,
  write: writeDeltaBody,
  rest: deltaRest,

  noteUsual() {},

  noteSent() {},
};

/** The field numbers of a `DeltaDiscoveryRequest`. */
const answerFields = { version: undefined, node: 1, nonce: 6 } as const;

/** Rules 81–98: new and changed resources, pending names, and absent names that the client holds or asked for. */
function content(need: ResponseNeed): Content | undefined {
  const { subscription, current, everything, pending } = need;
  const { fresh, gone } = lacking(need);
  let resources = everything ? subscribed(subscription, current) : fresh;
  const missing: ResourceName[] = [];
  if (pending.size > 0) {
    const all = new Set<Resource>(resources);
    for (const name of pending) {
      const found = find(current, name);
      for (const resource of found) all.add(resource);
      if (found.length === 0 && !need.absenceUnreported) missing.push(nameOf(name));
    }
    resources = [...all];
  }
  // A client that asks anew for a resource that only it knows goes on with that.
  if (!resources.every(hasContent)) resources = resources.filter(hasContent);
  const errors = errorsIn(need, gone);
  // xRFC TP3: if the reason is a passing error, the client keeps its resource, so the name is not called absent.
  const passing = new Set(errors.filter(isPassing).map(({ name }) => name));
  const absent = absentIn(
    need,
    resources,
    gone,
    passing.size === 0 ? missing : missing.filter((name) => !passing.has(name)),
  );
  const absences = absent.removed.length + absent.removedVariants.length + absent.unresolved.length;
  const count = resources.length + absences + errors.length;
  if (count === 0 && !need.mustAnswer) return undefined;
  // The alias under which the client asks says that this is the answer.
  if (current.type.namedBelow !== undefined && subscription.names.hasCapitals)
    resources = resources.map((resource) => withAsked(resource, inCapitals(subscription.names, resource)));
  return { resources, ...absent, errors, fresh: resources };
}

function withAsked(resource: Resource, asked: readonly ResourceName[]): Resource {
  return asked.length === 0 ? resource : { ...resource, aliases: [...resource.aliases, ...asked] };
}

/**
 * The names that the client is told are absent. No name is in both lists, resources and removed (rules 95, 96), except
 * for a client that knows variants and loses one of them.
 */
function absentIn(
  { current, tellsVariants }: ResponseNeed,
  resources: readonly Resource[],
  gone: readonly Resource[],
  missing: readonly ResourceName[],
): Required<Pick<Content, "removed" | "removedVariants" | "unresolved">> {
  if (gone.length + missing.length === 0) return { removed: [], removedVariants: [], unresolved: [] };
  const there = new Set(resources.map(calledName));
  // By canonical name, the spelling that the client was sent.
  const removed = new Map<ResourceName, ResourceName>();
  const removedVariants: Resource[] = [];
  for (const resource of gone) {
    const name = calledName(resource);
    if (tellsVariants && (resource.variant !== undefined || there.has(name))) removedVariants.push(resource);
    else if (!there.has(name)) removed.set(name, resource.name);
  }
  const unresolved = new Set<ResourceName>();
  for (const name of missing) {
    // Rules 91, 98, 107, 138.
    if (there.has(name) || removed.has(name)) continue;
    if (current.type.absence === "removed") removed.set(name, name);
    else unresolved.add(name);
  }
  return { removed: [...removed.values()], removedVariants, unresolved: [...unresolved] };
}

function next(
  before: DeltaSubscription | undefined,
  { subscribe, unsubscribe }: DeltaRequest,
  asked: NameSet,
  { type }: Subscriber,
  surroundings: Surroundings,
): DeltaSubscriptionChange {
  const dropped = surroundings.namesIn(unsubscribe, type);
  const step = nextDeltaSubscription(before, asked, dropped, type, surroundings.api);
  const parameters = subscribe.wildcardParameters ?? (step.everything ? undefined : before?.parameters);
  const { wildcard, names, sticky } = step.subscription;
  const subscription = { wildcard, names, sticky, parameters };
  const pending = wildcard ? asWildcardHas(step.pending, subscription) : step.pending;
  return { subscription, pending, dropped: step.dropped, everything: step.everything };
}

/**
 * Rules 97, 98: a client that drops a name under a wildcard still gets the resource, in the variant for the wildcard's
 * parameters.
 */
function asWildcardHas(pending: NameSet, { names, parameters = "" }: DeltaSubscription): NameSet {
  if (parameters === "" && !pending.hasLocators) return pending;
  return NameSet.of([...pending].map((name) => (names.has(name) ? name : `${nameOf(name)}${parameters}`)));
}

/** The sent state after a request that changed the client's subscription. */
function sentAfter(sent: SentState, step: DeltaSubscriptionChange, before: DeltaSubscription): SentState {
  const { set } = sent;
  let { pending, everything, mustAnswer } = sent;
  pending = pending.without(step.dropped).with(step.pending);
  const { names, wildcard } = step.subscription;
  if (before.wildcard && !wildcard) {
    // Unsent names that were due because of the wildcard are no longer due. Names that the client asks for still are.
    pending = pending.without([...pending].filter((name) => !names.has(name)));
    everything = false;
    mustAnswer = false;
  } else if (before.wildcard) pending = pending.with(lostVariants(set, before, step.subscription));
  if (!step.everything) return sentState(set, pending, everything, mustAnswer);
  return sentState(set, pending, true, set.type.schema !== undefined);
}
