import type { Nonce, Resource, ResourceName, Version } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/resource-set.js";

/** A response that was sent. */
export interface Sent {
  readonly nonce: Nonce;
  readonly version: Version;
  /** The number of the response on its stream, over all types, from 1. */
  readonly count: number;
  /** The same, but for a heartbeat, which has the one of the response of its type before it. */
  readonly order: number;
  /** When; milliseconds of the machine's time. */
  readonly at: number;
  /** The set that it brings the client to. */
  readonly set: ResourceSet;
  /** Those of its resources that are new to the client, or changed (`Content.fresh`). */
  readonly carried: readonly Resource[];
  /** The names that it said are gone: delta only. */
  readonly removed: readonly ResourceName[];
  /** The resources in it that have a TTL, as `identityOf` names them; empty for a client that is not told TTLs. */
  readonly perishable: NameSet;
  readonly isHeartbeat: boolean;
  /** A heartbeat without bodies. */
  readonly isBare: boolean;
}

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
  /** The client is known to use all else that the response carried. If not, it may use all of it, a part or nothing. */
  readonly usesRest: boolean;
  /** The set that the client used before; undefined where it had acknowledged none. */
  readonly before: ResourceSet | undefined;
  /** The set that the response was to bring it to. */
  readonly after: ResourceSet;
  /** What was new to the client in the response. */
  readonly carried: readonly Resource[];
}

/**
 * What one client uses of one type, as far as its answers say. An immutable value: an answer makes another one of it
 * (`used-state-steps.ts`). Streams whose clients use the same set of everything share one object.
 *
 * Invariant: where nothing is rejected, `acked` is a set that was sent, and the other fields are empty.
 * Invariant: `lastGood` has a key only while there is a `rejection`, and `faulty` and `perhaps` name no others.
 */
export interface UsedState {
  /**
   * The set that the client is known to use, as far as it is subscribed to it: the one that it acknowledged last, with
   * `lastGood` laid over it. Undefined before it acknowledged anything.
   */
  readonly acked: ResourceSet | undefined;
  /** The last rejection, as long as the client must have some of the content that it is about. */
  readonly rejection: Rejection | undefined;
  /**
   * By key, what the client uses instead of contents and removals that it rejected and still must have; undefined as a
   * value: nothing. For example, where an update of cluster `a` was rejected: `a` as it was before.
   */
  readonly lastGood: LastGood;
  /** By key, what it may have taken, all the same, of responses that it rejected before the last one; newest first. */
  readonly perhaps: readonly LastGood[];
  /** Of the keys in `lastGood`, those that the client named as faulty. */
  readonly faulty: ReadonlySet<ResourceName>;
}

/** By key, what a client uses instead of what it rejected. */
export type LastGood = ReadonlyMap<ResourceName, Resource | undefined>;

/**
 * A client did not answer in time, and what waited for that goes on as if it had acknowledged all responses up to one.
 * They stay unanswered: what the client says of them later counts, and nobody is told that it has what it never
 * acknowledged, or that it no longer rejects what it rejected.
 */
export interface Assumption {
  /** The `count` of the last response that is taken as acknowledged. */
  readonly upTo: number;
  /** The set that this one brings the client to. */
  readonly set: ResourceSet;
  /** What the client itself said. */
  readonly said: UsedState;
}

/** Shared by all that have none. */
export const noneInFlight: readonly Sent[] = [];
export const noLastGood: LastGood = new Map();
export const noneTaken: readonly LastGood[] = [];
export const noKeys: ReadonlySet<ResourceName> = new Set();

/** Of a client that acknowledged nothing. */
export const nothingUsed: UsedState = usedState(undefined, undefined, noLastGood, noneTaken, noKeys);

const wholeSets = new WeakMap<ResourceSet, UsedState>();

/** Of clients that use all of a set, and reject nothing: the same object for all of them. */
export function usesAll(set: ResourceSet): UsedState {
  let used = wholeSets.get(set);
  if (used === undefined) {
    used = usedState(set, undefined, noLastGood, noneTaken, noKeys);
    wholeSets.set(set, used);
  }
  return used;
}

/** All of these are made here, so that they have one shape. */
export function usedState(
  acked: UsedState["acked"],
  rejection: UsedState["rejection"],
  lastGood: LastGood,
  perhaps: UsedState["perhaps"],
  faulty: UsedState["faulty"],
): UsedState {
  return { acked, rejection, lastGood, perhaps, faulty };
}
