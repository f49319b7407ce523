import type { Resource, ResourceName } from "@xdskit/api";
import { nameOf } from "../locator.js";
import type { ClaimedVersions } from "../messages/claimed-versions.js";
import { type DeltaRequest, readDeltaRequest } from "../messages/requests.js";
import { deltaRest } from "../messages/response-rest.js";
import { writeDeltaBody } from "../messages/responses.js";
import { NameSet } from "../name-set.js";
import { ResourceSets } from "../resource-set.js";
import { sameSubscription } from "../subscription.js";
import { calledName } from "../variant-index.js";
import { knowsVariants, lostVariants, owedByClaims } from "../variants.js";
import { answered } from "./answers.js";
import { type Content, find, lacking, type Need, subscribed } from "./content.js";
import type { StreamEffect } from "./contract.js";
import { type DeltaStep, type DeltaSubscription, nextDeltaSubscription } from "./delta-subscription.js";
import { demandOfDelta } from "./demand.js";
import { errorsIn, isPassing } from "./errors-in.js";
import { noteAsked } from "./just-asked.js";
import { beatAtOnce } from "./lifetimes.js";
import { isSet, settledClaims } from "./settled-claims.js";
import type { Subscriber } from "./subscriber.js";
import { usualAnswerOf } from "./usual-answers.js";
import type { Surroundings, VariantRules } from "./variant.js";

/** What is remembered of a delta client. Its requests say what changes about the subscription, and a nonce says only which response is answered (rules 31, 32). */
export interface DeltaSubscriber extends Subscriber {
  subscription: DeltaSubscription;
  /** What a reconnecting client said to have, until the snapshot is there to compare with. */
  claimed: ClaimedVersions | undefined;
}

/** The incremental variant: how requests change what a client is subscribed to and owed, and what a response says. */
export const delta: VariantRules<DeltaRequest, DeltaSubscriber> = {
  variant: "delta",
  read: readDeltaRequest,
  countNames: ({ subscribe, unsubscribe }) => subscribe.length + unsubscribe.length,
  hasLocators: ({ subscribe, unsubscribe }) => subscribe.hasLocators || unsubscribe.hasLocators,

  begin(subscriber, request, surroundings) {
    const step = next(undefined, request, subscriber, surroundings);
    const { wildcard } = step.subscription;
    const claimed = request.claimed.size === 0 ? undefined : request.claimed;
    return Object.assign(subscriber, {
      subscription: step.subscription,
      claimed,
      // What is owed besides the versions that it claims to have is found when those are compared (`settleClaims`).
      owed: claimed === undefined ? step.owed : subscriber.owed,
      // Rule 59: without it a client that has nothing of a type would wait. One that claims to have everything does not (rule 105).
      mustAnswer: wildcard && claimed === undefined && subscriber.type.schema !== undefined,
    });
  },

  receive(asker, request, surroundings, now) {
    const effects: StreamEffect[] = [];
    const sent = asker.outstanding.find(({ nonce }) => nonce === request.nonce);
    // Clients answer each response, in order.
    if (sent !== undefined) effects.push(answered(asker, sent, request.error, now, "each"));
    if (request.subscribe.length === 0 && request.unsubscribe.length === 0) {
      const isPlain = sent !== undefined && request.error === undefined;
      if (isPlain) asker.usual ??= usualAnswerOf(request, answerFields, sent);
      return effects;
    }

    const before = asker.subscription;
    const step = next(before, request, asker, surroundings);
    asker.subscription = step.subscription;
    asker.owed = asker.owed.without(step.dropped).with(step.owed);
    noteAsked(asker, step.owed, before);
    if (before.wildcard && !step.subscription.wildcard) takeBackWildcard(asker);
    else if (before.wildcard) asker.owed = asker.owed.with(lostVariants(asker.held, before, step.subscription));
    if (step.everything) {
      asker.everything = true;
      asker.mustAnswer = asker.type.schema !== undefined;
    }
    if (sameSubscription(before, step.subscription)) return effects;
    const { wildcard, names } = step.subscription;
    return [...effects, { kind: "subscribed", type: asker.type, wildcard, names: names.size }];
  },

  demand: ({ subscribe, unsubscribe }, before, after) =>
    demandOfDelta(subscribe.toSet(), unsubscribe.toSet(), before, after),

  settleClaims(asker, current, surroundings) {
    const { claimed, subscription } = asker;
    if (claimed === undefined) return;
    asker.claimed = undefined;
    surroundings.settled(claimed);
    asker.held = current;
    if (surroundings.tellsTtl(asker)) beatAtOnce(asker, current);
    const warming = surroundings.warming(asker);
    if (knowsVariants(current, subscription)) {
      if (isSet(claimed, current) && subscription.names.size === 0 && warming.size === 0) return;
      asker.owed = asker.owed.with(owedByClaims(current, subscription, claimed.toMap(), warming));
      return;
    }
    const { owed, renamed } = settledClaims(claimed, current, subscription, warming);
    asker.owed = asker.owed.with(owed);
    // What the client holds under such a name is a resource of its own; the name has become an alias of another since.
    if (renamed.size > 0) asker.held = ResourceSets.branch(current, renamed);
  },

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

/** Rules 81–98: what is new or changed, what is owed, and what the client holds or asked for and is not there. */
function content(need: Need): Content | undefined {
  const { subscription, current, everything, owed } = need;
  const { fresh, gone } = lacking(need);
  let resources = everything ? subscribed(subscription, current) : fresh;
  const missing: ResourceName[] = [];
  if (owed.size > 0) {
    const all = new Set<Resource>(resources);
    for (const name of owed) {
      const found = find(current, name);
      for (const resource of found) all.add(resource);
      if (found.length === 0 && !need.absenceUnsaid) missing.push(nameOf(name));
    }
    resources = [...all];
  }
  const errors = errorsIn(need, gone);
  // xRFC TP3: where the reason is a passing error, the client keeps what it has, so the name is not called absent.
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
  return { resources, ...absent, errors, fresh: resources };
}

/** What the client is told not to be there. No name is in both lists, resources and removed (rules 95, 96), but for a client that knows variants and loses one of them. */
function absentIn(
  { current, tellsVariants }: Need,
  resources: readonly Resource[],
  gone: readonly Resource[],
  missing: readonly ResourceName[],
): Required<Pick<Content, "removed" | "removedVariants" | "unresolved">> {
  if (gone.length + missing.length === 0) return { removed: [], removedVariants: [], unresolved: [] };
  const there = new Set(resources.map(calledName));
  // By canonical name, the name as it was spelled to the client.
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
  { type }: Subscriber,
  { api }: Surroundings,
): DeltaStep {
  const step = nextDeltaSubscription(before, subscribe.toSet(), unsubscribe.toSet(), type, api);
  const parameters = subscribe.wildcardParameters ?? (step.everything ? undefined : before?.parameters);
  const { wildcard, names, sticky } = step.subscription;
  const subscription = { wildcard, names, sticky, parameters };
  const owed = wildcard ? asWildcardHas(step.owed, subscription) : step.owed;
  return { subscription, owed, dropped: step.dropped, everything: step.everything };
}

/** Rules 97, 98: what a client no longer names, but still has by its wildcard, it is to have in the variant for the parameters of the wildcard. */
function asWildcardHas(owed: NameSet, { names, parameters = "" }: DeltaSubscription): NameSet {
  if (parameters === "" && !owed.hasLocators) return owed;
  return NameSet.of([...owed].map((name) => (names.has(name) ? name : `${nameOf(name)}${parameters}`)));
}

/** The wildcard ended: what was due because of it and not sent yet is not due any more; what is asked for by name is. */
function takeBackWildcard(asker: DeltaSubscriber): void {
  const { names } = asker.subscription;
  const others: ResourceName[] = [];
  for (const name of asker.owed) if (!names.has(name)) others.push(name);
  asker.owed = asker.owed.without(others);
  asker.everything = false;
  asker.mustAnswer = false;
}
