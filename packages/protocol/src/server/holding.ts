import { type Nonce, type Resource, type ResourceName, redactErrorText, type Version } from "@xdskit/api";
import type { ErrorDetail } from "../messages/requests.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import { covers } from "../subscription.js";
import { blameOf } from "./blame.js";
import type { StreamEffect } from "./contract.js";
import { noteAnswer } from "./lifetimes.js";
import { faultyIn, keysIn, newIn, toSayAgain, usedInstead } from "./rejected.js";
import type { Sent, Subscriber } from "./subscriber.js";

/** What a client said against a response (NACK). */
export interface Rejection {
  readonly version: Version;
  readonly nonce: Nonce;
  /** From `error_detail`; the message is cut to a bounded length. */
  readonly code: number;
  readonly message: string;
  /** Milliseconds of the machine's time. */
  readonly at: number;
  /** Which of the resources that it carried are at fault, by name; undefined where the client does not say. */
  readonly blamed: readonly ResourceName[] | undefined;
  /** What else it carried the client uses all the same. Otherwise it may use some of it, all or nothing. */
  readonly usesRest: boolean;
  /** As of which the client used the type before, and what it was to be brought to. */
  readonly before: ResourceSet | undefined;
  readonly after: ResourceSet;
  /** What was new to the client in the response. */
  readonly carried: readonly Resource[];
}

/** What is known of what a client makes of the responses of one type. */
export interface Holding {
  /** Each response holds all that the client is to have, so that an acknowledgement is one of everything. */
  isWhole: boolean;
  /**
   * What the client is known to use, of what it is subscribed to: what it acknowledged last, but for contents that it rejected. Undefined before it
   * acknowledged anything.
   */
  acked: ResourceSet | undefined;
  /** The response that was acknowledged last, and when; milliseconds of the machine's time. */
  ackedLast: { readonly version: Version; readonly order: number; readonly at: number } | undefined;
  /** Sent and not answered yet, oldest first. A silent client must not cost memory. */
  outstanding: Sent[];
  /** The last, for as long as something that it carried is to be had with that content. */
  rejection: Rejection | undefined;
  /** What the client uses, by key, in the place of contents and removals that it rejected and that are still to be had. */
  instead: ReadonlyMap<ResourceName, Resource | undefined>;
  /** The keys of those that it blamed. */
  faulty: ReadonlySet<ResourceName>;
}

/** Of a client that was sent nothing. */
export function newHolding(): Holding {
  return {
    ...{ isWhole: false, acked: undefined, ackedLast: undefined },
    ...{ outstanding: none, rejection: undefined, instead: nothing, faulty: noKeys },
  };
}

const none: Sent[] = [];
const nothing: Holding["instead"] = new Map();
const noKeys: ReadonlySet<ResourceName> = new Set();

/** Beyond this the oldest are forgotten. */
export const mostOutstanding = 32;

/** Notes a response on its way. */
export function noteOutstanding(holding: Holding, sent: Sent): void {
  // Most of the time a client has answered everything: one empty list does for all.
  if (holding.outstanding.length === 0) holding.outstanding = [sent];
  else if (holding.outstanding.push(sent) > mostOutstanding) holding.outstanding.shift();
}

/** The responses that may still change what the client uses: those after the one that it acknowledged last. */
export function onTheirWay({ outstanding, ackedLast }: Holding): readonly Sent[] {
  const last = ackedLast?.order ?? 0;
  return outstanding.every(({ count }) => count > last) ? outstanding : outstanding.filter(({ count }) => count > last);
}

/** What a client says about a response: `error_detail` alone makes it a rejection, whatever version it carries (rules 20, 21, 26). */
export function answered(
  subscriber: Subscriber,
  sent: Sent,
  error: ErrorDetail | undefined,
  now: number,
  superseded: "superseded" | "each",
): StreamEffect {
  const { type, outstanding } = subscriber;
  const { nonce, version } = sent;
  noteAnswer(subscriber, sent, error !== undefined);
  // SotW: an answer is one to all before it, too.
  const rest = outstanding.filter(({ count }) =>
    superseded === "superseded" ? count > sent.count : count !== sent.count,
  );
  subscriber.outstanding = rest.length === 0 ? none : rest;
  if (error === undefined) {
    const before = superseded === "superseded" ? outstanding.filter(({ count }) => count < sent.count) : none;
    acknowledge(subscriber, sent, before, now);
    return { kind: "acknowledged", type, nonce, version };
  }
  const { code } = error;
  const carried = newIn(subscriber, sent);
  const blame = blameOf(error.message, carried);
  // Logs, events and pages show it.
  const message = redactErrorText(error.message);
  const rejection: Rejection = {
    ...{ version, nonce, code, message, at: now, blamed: blame?.names, usesRest: blame?.usesRest ?? false },
    ...{ before: subscriber.acked, after: sent.set, carried },
  };
  if (!sent.isHeartbeat) reject(subscriber, sent, rejection);
  // It says nothing about contents that it has not said before.
  else settleSilently(subscriber);
  return { kind: "rejected", type, nonce, version, code, message, rejection };
}

/** `before`: responses that it answers as well. */
function acknowledge(subscriber: Subscriber, sent: Sent, before: readonly Sent[], now: number): void {
  if (sent.count <= (subscriber.ackedLast?.order ?? 0)) return;
  subscriber.ackedLast = { version: sent.version, order: sent.count, at: now };
  // Most of the time nothing is rejected, and what it brought need not be listed.
  const isRejecting = subscriber.instead.size > 0 || subscriber.rejection !== undefined;
  const keys = isRejecting ? new Set([sent, ...before].flatMap((one) => [...keysIn(one)])) : noKeys;
  const { instead } = subscriber;
  const accepted = subscriber.isWhole ? "everything" : keys;
  use(subscriber, onTheirWay(subscriber).length === 0 ? subscriber.held : sent.set, accepted);
  // What it asks for no more, or what has another content by now, may have been at fault as well.
  const gone = [...instead.keys()].filter((key) => !subscriber.instead.has(key));
  const again = sent.isHeartbeat ? [] : toSayAgain(subscriber, new Set([...keys, ...gone]), onTheirWay(subscriber));
  if (again.length > 0) subscriber.owed = subscriber.owed.with(again);
}

function reject(subscriber: Subscriber, sent: Sent, rejection: Rejection): void {
  // An older response than one that was acknowledged: what the client uses is known from that.
  if (sent.count <= (subscriber.ackedLast?.order ?? 0)) return;
  const { before, usesRest } = rejection;
  const used = usedInstead(rejection, sent, subscriber.isWhole);
  if (subscriber.rejection !== undefined) forgive(subscriber, sent.set, acceptedOf(sent, rejection));
  const instead = new Map(subscriber.isWhole ? nothing : subscriber.instead);
  // What was rejected once more is what `before` says.
  for (const [key, resource] of used) instead.set(key, resource);
  subscriber.faulty = faultyIn(rejection, subscriber);
  subscriber.rejection = rejection;
  subscriber.instead = subscriber.instead.size === 0 || subscriber.isWhole ? used : instead;
  subscriber.acked = before === undefined && !usesRest ? undefined : reverted(sent.set, subscriber.instead);
}

/** What a client uses of a response that it rejected, by key. */
function acceptedOf(sent: Sent, { usesRest, blamed = [], carried }: Rejection): ReadonlySet<ResourceName> {
  if (!usesRest) return noKeys;
  const faulty = new Set(blamed);
  const keys = new Set(keysIn(sent));
  for (const { name, key } of carried) if (faulty.has(name)) keys.delete(key);
  return keys;
}

/** Nothing was sent to bring the client to what it now holds: there was nothing to say. */
export function settleSilently(subscriber: Subscriber): void {
  if (subscriber.acked === subscriber.held || onTheirWay(subscriber).length > 0) return;
  // What it was sent first it has not taken.
  if (subscriber.acked === undefined && subscriber.rejection !== undefined) return;
  const { instead } = subscriber;
  use(subscriber, subscriber.held, noKeys);
  if (subscriber.instead.size === instead.size) return;
  // What may have been at fault is gone: what else the rejected response held is told again.
  const gone = [...instead.keys()].filter((key) => !subscriber.instead.has(key));
  const again = toSayAgain(subscriber, new Set(gone), []);
  if (again.length > 0) subscriber.owed = subscriber.owed.with(again);
}

/** A client that says nothing is taken at the word that it did not give. */
export function presume(subscriber: Subscriber, upTo: Sent): void {
  const rest = subscriber.outstanding.filter(({ count }) => count > upTo.count);
  subscriber.outstanding = rest.length === 0 ? none : rest;
  use(subscriber, rest.length === 0 ? subscriber.held : upTo.set, noKeys);
}

function use(subscriber: Subscriber, set: ResourceSet, accepted: ReadonlySet<ResourceName> | "everything"): void {
  if (subscriber.instead.size > 0 || subscriber.rejection !== undefined) forgive(subscriber, set, accepted);
  subscriber.acked = subscriber.instead.size === 0 ? set : reverted(set, subscriber.instead);
}

/** What has another content now, or was accepted at last, is no longer rejected. */
function forgive(subscriber: Subscriber, set: ResourceSet, accepted: ReadonlySet<ResourceName> | "everything"): void {
  const { rejection } = subscriber;
  const still = new Map<ResourceName, Resource | undefined>();
  if (accepted !== "everything" && rejection !== undefined) {
    for (const [key, used] of subscriber.instead) {
      const rejected = ResourceSets.get(rejection.after, key);
      const current = ResourceSets.get(set, key);
      const isAsked = current === undefined || covers(subscriber.subscription, current);
      const isSame = current?.version === rejected?.version;
      if (isSame && isAsked && !accepted.has(key)) still.set(key, used);
    }
  }
  subscriber.instead = still.size === 0 ? nothing : still;
  subscriber.faulty = still.size === 0 ? noKeys : new Set([...subscriber.faulty].filter((key) => still.has(key)));
  if (still.size === 0) subscriber.rejection = undefined;
}

const known = new WeakMap<Holding["instead"], WeakMap<ResourceSet, ResourceSet>>();

/** The set with what is used instead of what was rejected: the same one for all clients that rejected the same. */
function reverted(set: ResourceSet, instead: Holding["instead"]): ResourceSet {
  let sets = known.get(instead);
  if (sets === undefined) {
    sets = new WeakMap();
    known.set(instead, sets);
  }
  let found = sets.get(set);
  if (found === undefined) {
    found = ResourceSets.branch(set, instead);
    sets.set(set, found);
  }
  return found;
}
