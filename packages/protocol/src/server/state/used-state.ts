import type { Nonce, Resource, ResourceName, Version } from "@xdskit/api";
import type { ResourceSet } from "../../model/sets/resource-set.js";

/** A client's rejection of a response (NACK). */
export interface Rejection {
  readonly version: Version;
  readonly nonce: Nonce;
  /** From `error_detail`; the message is cut to a bounded length. */
  readonly code: number;
  readonly message: string;
  /** Milliseconds of the machine's time. */
  readonly at: number;
  /** The names of the resources at fault; undefined if the client does not say. */
  readonly blamed: readonly ResourceName[] | undefined;
  /**
   * True: the client uses everything else that the response carried. False: it may use all of that, a part or nothing.
   */
  readonly usesRest: boolean;
  /** The set that the client used before; undefined if it had acknowledged none. */
  readonly before: ResourceSet | undefined;
  /** The set that the client would use if it had accepted the response. */
  readonly after: ResourceSet;
  /** The resources of the response that were new to the client. */
  readonly carried: readonly Resource[];
}

/**
 * One client's use of one type, as far as its answers say. It is immutable: an answer makes a new value
 * (`used-state-steps.ts`). Streams whose clients use the same set of everything share one object.
 *
 * Invariant: if nothing is rejected, `set` is one that was sent, and the other fields are empty. Invariant:
 * `lastGood` has keys only while there is a `rejection`. `faulty` has no keys that `lastGood` lacks. `perhaps` may have
 * such keys, and they count no more.
 */
export interface UsedState {
  /**
   * The set that the client surely uses, as far as it is subscribed to it, with `lastGood` laid over it. Any answer may
   * change it, a rejection too, and so may a change that needs no response, or an acknowledgement that is assumed.
   * Undefined before the client uses anything.
   */
  readonly set: ResourceSet | undefined;
  /** The last rejection, as long as the client must have some of the content that it rejected. */
  readonly rejection: Rejection | undefined;
  /**
   * By key, the content that the client uses in place of contents and removals that it rejected and still must have.
   * The value undefined means that it uses nothing. For example, if it rejected an update of cluster `a`: `a` as it was
   * before.
   */
  readonly lastGood: LastGood;
  /** By key, the contents that it may have used of the responses that it rejected before the last one; newest first. */
  readonly perhaps: readonly LastGood[];
  /** The keys of `lastGood` that the client named as faulty. */
  readonly faulty: ReadonlySet<ResourceName>;
}

/** By key, the content that a client uses in place of a rejected one. */
export type LastGood = ReadonlyMap<ResourceName, Resource | undefined>;

/**
 * A client did not answer in time, so its order goes on as if it had acknowledged all responses up to one. The
 * responses stay unanswered: a later answer to them counts. Status and events do not show the assumption, neither as an
 * acknowledgement, nor as the end of a rejection.
 */
export interface Assumption {
  /** The `count` of the last response that is taken as acknowledged. */
  readonly upTo: number;
  /** The set of that response. */
  readonly set: ResourceSet;
  /** The client's use by its own answers. */
  readonly answered: UsedState;
}

export const noLastGood: LastGood = new Map();
export const noneTaken: readonly LastGood[] = [];
export const noKeys: ReadonlySet<ResourceName> = new Set();

/** The value of a client that acknowledged nothing. */
export const nothingUsed: UsedState = usedState(undefined, undefined, noLastGood, noneTaken, noKeys);

const wholeSets = new WeakMap<ResourceSet, UsedState>();

/** The value of clients that use all of a set and reject nothing. All of them share one object. */
export function usesAll(set: ResourceSet): UsedState {
  let used = wholeSets.get(set);
  if (used === undefined) {
    used = usedState(set, undefined, noLastGood, noneTaken, noKeys);
    wholeSets.set(set, used);
  }
  return used;
}

/** Makes every `UsedState`, so that all have one hidden class in V8. */
export function usedState(
  set: UsedState["set"],
  rejection: UsedState["rejection"],
  lastGood: LastGood,
  perhaps: UsedState["perhaps"],
  faulty: UsedState["faulty"],
): UsedState {
  return { set, rejection, lastGood, perhaps, faulty };
}
