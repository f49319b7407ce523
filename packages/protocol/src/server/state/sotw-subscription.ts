import type { ApiVersion, ResourceType } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { type Subscription, wildcardName } from "../../model/subscription.js";

/** What a SotW client subscribed to on one (stream, type), and what of its past decides how no names are read. */
export interface SotwSubscription extends Subscription {
  /** It named something before: no names mean nothing from now on (rules 42–44), and not the wildcard. */
  readonly everNamed: boolean;
  /** v2's wildcard, which later names do not end (rule 50). */
  readonly sticky: boolean;
}

/**
 * Reads a request's names against what was subscribed before, `undefined` for the first request of the type on the
 * stream. The first request decides: no names means the wildcard for LDS, CDS and SRDS (rule 38); after any name was
 * given, no names means nothing (rule 43).
 */
export function nextSotwSubscription(
  before: SotwSubscription | undefined,
  names: NameSet,
  type: ResourceType,
  api: ApiVersion,
): SotwSubscription {
  if (before?.sticky) return before;
  if (names.size > 0) {
    const wildcard = names.has(wildcardName);
    return { wildcard, names: wildcard ? names.without([wildcardName]) : names, everNamed: true, sticky: false };
  }
  const everNamed = before?.everNamed ?? false;
  const wildcard = !everNamed && type.emptyFirstRequest === "wildcard";
  return { wildcard, names: NameSet.empty, everNamed, sticky: wildcard && api === "v2" };
}
