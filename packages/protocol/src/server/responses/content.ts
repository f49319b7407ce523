import type { ApiVersion, Resource } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import { type Change, changeBetween, type Difference } from "../../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { concerns, covers, type Subscription } from "../../model/subscribed/subscription.js";
import { knowsVariants, variantChange } from "../../model/subscribed/variants.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { DeltaContent } from "../../wire/responses/responses.js";
import { subscribed } from "../state/find.js";
import type { SentState } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { type ErrorsToTell, keyOfErrors } from "./resource-errors.js";

/**
 * Everything that the content of one response depends on: the client's subscription, its resources, and its target. It
 * is a value apart from the stream, because streams with equal needs get the same bytes (`shared-responses.ts`).
 */
export interface ResponseNeed {
  readonly sotwOrDelta: SotwOrDelta;
  /** The API version of the resources. */
  readonly api: ApiVersion;
  readonly subscription: Subscription;
  /** The client holds everything in this set that it is subscribed to, except the pending names. */
  readonly sentSet: ResourceSet;
  /** The set that it must hold after the response. */
  readonly current: ResourceSet;
  /** Everything subscribed must be sent, even if the client holds it. */
  readonly everything: boolean;
  /** Names that must be answered, even if the client holds them. */
  readonly pending: NameSet;
  /** The client waits for a response, even one without resources. */
  readonly mustAnswer: boolean;
  /** The client is not told that pending names do not exist (`isAbsenceUnreported`). */
  readonly absenceUnreported: boolean;
  /** The client understands variants: it names resources by locators. */
  readonly tellsVariants: boolean;
  /** Set if the client is told why resources are absent. */
  readonly errors?: ErrorsToTell | undefined;
}

/** The need of a client on its way to the set `current`. `pending`: the pending names that must be answered now. */
export function needOf(
  { api, subscription, tellsVariants, sent: { set: sentSet, everything, mustAnswer } }: Subscriber,
  current: ResourceSet,
  pending: NameSet,
  { sotwOrDelta, absenceUnreported, errors }: Pick<ResponseNeed, "sotwOrDelta" | "absenceUnreported" | "errors">,
): ResponseNeed {
  return {
    sotwOrDelta,
    api,
    subscription,
    sentSet,
    current,
    everything,
    pending,
    mustAnswer,
    absenceUnreported,
    tellsVariants,
    errors,
  };
}

/** The content of a response; in SotW, only resources and errors. */
export interface Content extends DeltaContent {
  /**
   * The resources that are new to the client or changed, or that it asked for again. The resources that they refer to
   * are sent after them (`StreamWarming`).
   */
  readonly fresh: readonly Resource[];
}

/**
 * A key that is equal for needs with equal content, and for no others. Parameters are a client's own text. They stand
 * last, or a client could forge the key of another need.
 */
export function keyOf(need: ResponseNeed): string {
  const { subscription } = need;
  const flags =
    (need.everything ? 1 : 0) +
    (need.mustAnswer ? 2 : 0) +
    (need.absenceUnreported ? 4 : 0) +
    (subscription.wildcard ? 8 : 0) +
    (need.tellsVariants ? 16 : 0);
  return `${need.sotwOrDelta}${need.api} ${ResourceSets.id(need.sentSet)} ${ResourceSets.id(need.current)} ${subscription.names.id} ${need.pending.id} ${flags}${need.errors === undefined ? "" : keyOfErrors(need.errors)} ${subscription.parameters ?? ""}`;
}

/**
 * A fast check whether nothing is due. Most changes do not concern most streams that ask by name, and those then need
 * no `ResponseNeed`. False: something may be due.
 */
export function isUnconcerned(sent: SentState, subscription: Subscription, current: ResourceSet): boolean {
  const { set, pending, everything, mustAnswer } = sent;
  if (everything || mustAnswer || pending.size > 0 || subscription.wildcard || set.size === 0) return false;
  if (ResourceSets.hasVariants(set) || knowsVariants(current, subscription)) return false;
  const { differences } = changeBetween(set, current);
  if (differences.size > fewDifferences) return false;
  for (const difference of differences.values()) if (concerns(subscription, difference)) return false;
  return true;
}

/** A longer list of differences is not walked for each stream. Streams share that work in a need. */
const fewDifferences = 8;

/** The differences that concern a client. */
export function* concerning(subscription: Subscription, change: Change): Iterable<Difference> {
  const { wildcard, names } = subscription;
  const isNamedOtherwise = change.hasAliases || names.hasCollections || (change.hasHosts && names.hasCapitals);
  if (wildcard) {
    yield* change.differences.values();
  } else if (names.size < change.differences.size && !isNamedOtherwise) {
    for (const name of names) {
      const difference = change.differences.get(name);
      if (difference !== undefined) yield difference;
    }
  } else {
    for (const difference of change.differences.values()) if (concerns(subscription, difference)) yield difference;
  }
}

/**
 * A client's difference from its target: the resources that are new to it or changed, each once (`fresh`), and those
 * that it holds and must lose (`gone`). If it holds nothing, nothing is compared.
 */
export function lacking(need: ResponseNeed): {
  readonly fresh: readonly Resource[];
  readonly gone: readonly Resource[];
} {
  const { subscription, sentSet, current } = need;
  if (sentSet === current || current.size + sentSet.size === 0) return { fresh: [], gone: [] };
  if (sentSet.size === 0) return { fresh: subscribed(subscription, current), gone: [] };
  const change = changeBetween(sentSet, current);
  if (knowsVariants(sentSet, subscription) || knowsVariants(current, subscription)) {
    return variantChange(sentSet, current, change, subscription);
  }
  const fresh: Resource[] = [];
  const gone: Resource[] = [];
  for (const { before, after } of concerning(subscription, change)) {
    if (after !== undefined && covers(subscription, after)) fresh.push(after);
    else if (before !== undefined) gone.push(before);
  }
  return { fresh, gone };
}
