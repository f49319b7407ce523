import type { ApiVersion, Resource, ResourceName } from "@xdskit/api";
import { changeBetween, type Difference } from "../../model/change.js";
import type { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import { concerns, covers, type Subscription } from "../../model/subscription.js";
import { knowsVariants, variantChange } from "../../model/variants.js";
import type { ResourceError } from "../../wire/responses.js";
import type { SotwOrDelta } from "../../wire/sotw-or-delta.js";
import { subscribed } from "../state/find.js";
import type { SentState } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { type ErrorsToTell, keyOfErrors } from "./resource-errors.js";

/**
 * All that decides what one response says: what the client asked for, what it holds and what it is to hold. A value,
 * apart from the stream that has it, because streams with an equal need get the same bytes (`shared-responses.ts`).
 */
export interface Need {
  readonly variant: SotwOrDelta;
  /** The API version of the resources. */
  readonly api: ApiVersion;
  readonly subscription: Subscription;
  /** The set as of which the client holds everything that it is subscribed to, but for what is pending. */
  readonly sentSet: ResourceSet;
  /** The set that it is to hold. */
  readonly current: ResourceSet;
  /** All that is subscribed to must be sent, also what the client holds. */
  readonly everything: boolean;
  /** Names that must be answered, also those that it holds. */
  readonly pending: NameSet;
  /** The client waits for a response, even one without resources. */
  readonly mustAnswer: boolean;
  /** The client is not told of pending names that do not exist (`isAbsenceUnsaid`). */
  readonly absenceUnsaid: boolean;
  /** The client understands what is said about variants: it names resources by locators. */
  readonly tellsVariants: boolean;
  /** Set where the client is told why resources are not there. */
  readonly errors?: ErrorsToTell | undefined;
}

/**
 * What a client needs to be brought to the set `current`. `pending`: those of the pending names that are to be answered
 * now.
 */
export function needOf(
  { api, subscription, tellsVariants, sent: { set: sentSet, everything, mustAnswer } }: Subscriber,
  current: ResourceSet,
  pending: NameSet,
  { variant, absenceUnsaid, errors }: Pick<Need, "variant" | "absenceUnsaid" | "errors">,
): Need {
  return {
    variant,
    api,
    subscription,
    sentSet,
    current,
    everything,
    pending,
    mustAnswer,
    absenceUnsaid,
    tellsVariants,
    errors,
  };
}

/** What a response says. */
export interface Content {
  readonly resources: readonly Resource[];
  /** Delta: names of `removed_resources`. */
  readonly removed: readonly ResourceName[];
  /** Delta: names that do not exist, of a type that says so by a `Resource` without body (rule 138). */
  readonly unresolved: readonly ResourceName[];
  /** Delta: resources that the client holds and whose TTL starts anew, without bodies (rule 131). */
  readonly heartbeats?: readonly Resource[] | undefined;
  /**
   * Delta: what the client holds and is to hold no more, in the words of one that knows variants: by name and
   * constraints (xRFC TP2).
   */
  readonly removedVariants?: readonly Resource[] | undefined;
  /** Why names have no resource, for clients that are told. */
  readonly errors?: readonly ResourceError[] | undefined;
  /**
   * Those of the resources that are new to the client or changed, or that it asked for again: what they refer to is
   * sent after them (`StreamWarming`).
   */
  readonly fresh: readonly Resource[];
}

/**
 * A key that is equal for needs with an equal content, and for no others. Parameters, which are a client's own text,
 * stand last, or it could write the key of another need.
 */
export function keyOf(need: Need): string {
  const { subscription } = need;
  const flags =
    (need.everything ? 1 : 0) +
    (need.mustAnswer ? 2 : 0) +
    (need.absenceUnsaid ? 4 : 0) +
    (subscription.wildcard ? 8 : 0) +
    (need.tellsVariants ? 16 : 0);
  return `${need.variant}${need.api} ${ResourceSets.id(need.sentSet)} ${ResourceSets.id(need.current)} ${subscription.names.id} ${need.pending.id} ${flags}${need.errors === undefined ? "" : keyOfErrors(need.errors)} ${subscription.parameters ?? ""}`;
}

/**
 * Whether it is quickly seen that nothing is due: most changes do not concern most streams that ask by name, and for
 * those no need is put together. False: perhaps something is due.
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

/** A longer list of differences is not gone through for each stream; a need, which streams share, finds out. */
const fewDifferences = 8;

/** What differs between what the client holds and what it is to hold, as far as it is subscribed to it. */
export function* differences({
  subscription,
  sentSet,
  current,
}: Pick<Need, "subscription" | "sentSet" | "current">): Iterable<Difference> {
  const change = changeBetween(sentSet, current);
  const { wildcard, names } = subscription;
  if (wildcard) {
    yield* change.differences.values();
  } else if (names.size < change.differences.size && !change.hasAliases && !names.hasCollections) {
    for (const name of names) {
      const difference = change.differences.get(name);
      if (difference !== undefined) yield difference;
    }
  } else {
    for (const difference of change.differences.values()) if (concerns(subscription, difference)) yield difference;
  }
}

/**
 * What a client lacks: the resources that are new to it or changed, each once (`fresh`), and those that it holds and is
 * to hold no more (`gone`). Where it holds nothing, nothing is compared.
 */
export function lacking(need: Need): { readonly fresh: readonly Resource[]; readonly gone: readonly Resource[] } {
  const { subscription, sentSet, current } = need;
  if (sentSet === current || current.size + sentSet.size === 0) return { fresh: [], gone: [] };
  if (sentSet.size === 0) return { fresh: subscribed(subscription, current), gone: [] };
  if (knowsVariants(sentSet, subscription) || knowsVariants(current, subscription)) {
    return variantChange(sentSet, current, changeBetween(sentSet, current), subscription);
  }
  const fresh: Resource[] = [];
  const gone: Resource[] = [];
  for (const { before, after } of differences(need)) {
    if (after !== undefined && covers(subscription, after)) fresh.push(after);
    else if (before !== undefined) gone.push(before);
  }
  return { fresh, gone };
}
