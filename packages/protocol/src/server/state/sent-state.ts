import type { ResourceName, ResourceType } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { emptyResourceSet, type ResourceSet } from "../../model/resource-set.js";

/**
 * What one client was sent of one type: a cursor, not a copy. An immutable value: a request or a response makes another
 * one of it. Streams that were sent all of the same set share one object.
 *
 * Invariant: the client was sent everything that it is subscribed to as it is in `set`, but for the `pending` names.
 * Invariant: nothing is due as long as the snapshot has this very set, no name is pending, and neither flag is set.
 *
 * So a slow client gets one composed change. And a rejected content is not sent again, since it counts as sent, but
 * whatever comes after it is, the content before it too (rules 17–19; Envoy on the wire, 10).
 */
export interface SentState {
  /** The set that the client was brought to, by responses or since there was nothing to say. */
  readonly set: ResourceSet;
  /** Names that must be answered with the next response, also those that it was sent. */
  readonly pending: NameSet;
  /** All that it is subscribed to must be sent with the next response, also what it was sent. */
  readonly everything: boolean;
  /** The client waits for a response, even one without resources. */
  readonly mustAnswer: boolean;
}

const wholeSets = new WeakMap<ResourceSet, SentState>();

/** The client was sent all of a set, and only the `pending` names, if any, are due. */
export function sentAll(set: ResourceSet, pending: NameSet = NameSet.empty): SentState {
  if (pending.size > 0) return { set, pending, everything: false, mustAnswer: false };
  let sent = wholeSets.get(set);
  if (sent === undefined) {
    sent = { set, pending, everything: false, mustAnswer: false };
    wholeSets.set(set, sent);
  }
  return sent;
}

/** Of a client that was sent nothing. */
export function nothingSent(type: ResourceType): SentState {
  return sentAll(emptyResourceSet(type));
}

export function sentState(set: ResourceSet, pending: NameSet, everything: boolean, mustAnswer: boolean): SentState {
  return everything || mustAnswer ? { set, pending, everything, mustAnswer } : sentAll(set, pending);
}

/** These names must be answered, too. */
export function withPending(sent: SentState, names: Iterable<ResourceName>): SentState {
  const pending = sent.pending.with(names);
  return pending === sent.pending ? sent : sentState(sent.set, pending, sent.everything, sent.mustAnswer);
}

/** Nothing is to be sent as long as the snapshot has this very set. */
export function isUpToDate({ set, pending, everything, mustAnswer }: SentState, current: ResourceSet): boolean {
  return set === current && pending.size === 0 && !everything && !mustAnswer;
}
