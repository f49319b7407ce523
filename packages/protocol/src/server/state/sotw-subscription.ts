import type { ApiVersion, ResourceType } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { type Subscription, wildcardName } from "../../model/subscribed/subscription.js";

/**
 * A SotW client's subscription to one type on one stream, and the part of its past that decides what a request without
 * names means.
 */
export interface SotwSubscription extends Subscription {
  /** It named something before: from now on, no names mean nothing (rules 42–44) and not the wildcard. */
  readonly everNamed: boolean;
  /** It is v2's wildcard, which later names do not end (rule 50). */
  readonly sticky: boolean;
}

/**
 * Reads a request's names. `before` is the subscription so far, `undefined` for the first request of the type on the
 * stream. In the first request, no names mean the wildcard for LDS, CDS and SRDS (rule 38). After any name was given,
 * no names mean nothing (rule 43).
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
