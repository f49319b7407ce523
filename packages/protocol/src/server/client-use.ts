import type { Nonce, Resource, ResourceName, Version } from "@xdskit/api";
import type { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";

/*
 * What is known of what a client does with the responses of one type on one stream. It may be using the set that it acknowledged last (`acked`), any that is on its way
 * (`outstanding`), and parts of what it rejected (`instead`, `perhaps`): make before break has to reckon with each. `holding.ts` and `rejected.ts` keep it.
 */

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

/** What a client itself said of what it uses. */
export type Said = Pick<Holding, "acked" | "rejection" | "instead" | "perhaps" | "faulty">;

/**
 * A client did not answer in time, and what waited for that goes on as if it had acknowledged all responses up to one. They stay unanswered: what the client says of them later counts, and
 * nobody is told that it has what it never acknowledged, or that it no longer rejects what it rejected.
 */
export interface Presumption {
  /** The `count` of the last response that is taken as acknowledged. */
  readonly upTo: number;
  /** The set that this one brings the client to. */
  readonly set: ResourceSet;
  /** What the `Holding` would be without it. */
  readonly said: Said;
}

/** What is known of what a client makes of the responses of one type. */
export interface Holding {
  /** Each response is the full state (SotW LDS, CDS …), so that an acknowledgement is one of everything. */
  isWhole: boolean;
  /**
   * The set that the client is known to use, as far as it is subscribed to it: the one that it acknowledged last, with `instead` laid over it. Undefined before it
   * acknowledged anything.
   */
  acked: ResourceSet | undefined;
  /** What is only taken to be so in what follows from answers, since the client did not answer in time; undefined where the client said all of it. */
  presumed: Presumption | undefined;
  /** The response that was acknowledged last, and when; milliseconds of the machine's time. */
  ackedLast: { readonly version: Version; readonly order: number; readonly at: number } | undefined;
  /** Sent and not answered yet, oldest first. A silent client must not cost memory. */
  outstanding: readonly Sent[];
  /** The last rejection, as long as some content that it is about is still what the client is to have. */
  rejection: Rejection | undefined;
  /**
   * By key, what the client uses instead of contents and removals that it rejected and that it still is to have; undefined as a value: nothing. For example, where an update of
   * cluster `a` was rejected: `a` as it was before.
   */
  instead: ReadonlyMap<ResourceName, Resource | undefined>;
  /** By key, what the client may have taken, all the same, of responses that it rejected before the last one; the newest first. */
  perhaps: readonly Holding["instead"][];
  /** Of the keys in `instead`, those that the client named as faulty. */
  faulty: ReadonlySet<ResourceName>;
}

/** Shared by all that have none. */
export const none: readonly Sent[] = [];
export const nothing: Holding["instead"] = new Map();
export const noneTaken: Holding["perhaps"] = [];
export const noKeys: ReadonlySet<ResourceName> = new Set();
