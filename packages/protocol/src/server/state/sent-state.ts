import type { ResourceName, ResourceType } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { emptyResourceSet, type ResourceSet } from "../../model/sets/resource-set.js";

/**
 * The set of one type that one client was sent: a cursor, not a copy. It is immutable: a request or a response makes a
 * new value. Streams that were sent all of the same set share one object.
 *
 * Invariant: the client was sent everything in `set` that it is subscribed to, except the `pending` names. Invariant:
 * nothing is due as long as the snapshot has this very set, no name is pending, and neither flag is set.
 *
 * So a slow client gets one composed change. A rejected content counts as sent, so it is not sent again. Any other
 * content that follows is sent, even the one from before the rejection (rules 17–19; Envoy on the wire, 10).
 */
export interface SentState {
  /**
   * The set that the client was brought to, by responses or without one, because nothing in it concerned the client.
   */
  readonly set: ResourceSet;
  /** Names that the next response must answer, even if the client was sent them before. */
  readonly pending: NameSet;
  /** The next response must hold everything that the client is subscribed to, even if the client was sent it before. */
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

/** The value of a client that was sent nothing. */
export function nothingSent(type: ResourceType): SentState {
  return sentAll(emptyResourceSet(type));
}

export function sentState(set: ResourceSet, pending: NameSet, everything: boolean, mustAnswer: boolean): SentState {
  return everything || mustAnswer ? { set, pending, everything, mustAnswer } : sentAll(set, pending);
}

/** Adds names that the next response must answer. */
export function withPending(sent: SentState, names: Iterable<ResourceName>): SentState {
  const pending = sent.pending.with(names);
  return pending === sent.pending ? sent : sentState(sent.set, pending, sent.everything, sent.mustAnswer);
}

/** Whether nothing is due while the snapshot has this very set. */
export function isUpToDate({ set, pending, everything, mustAnswer }: SentState, current: ResourceSet): boolean {
  return set === current && pending.size === 0 && !everything && !mustAnswer;
}
