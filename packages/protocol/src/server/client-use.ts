import type { Nonce, Resource, ResourceName, Version } from "@xdskit/api";
import type { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";

/** A response that was sent. */
export interface Sent {
  readonly nonce: Nonce;
  readonly version: Version;
  /** Counts the responses of the stream, over all types. */
  readonly count: number;
  /** The same, but that a heartbeat has the number of what it repeats. */
  readonly order: number;
  /** When; milliseconds of the machine's time. */
  readonly at: number;
  /** What it brings the client to, and what of that is new to it. */
  readonly set: ResourceSet;
  readonly carried: readonly Resource[];
  /** The names that it said are gone: delta only. */
  readonly removed: readonly ResourceName[];
  /** What it held of what has a TTL, as `identityOf` names it; empty for a client that is not told TTLs. */
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
  outstanding: readonly Sent[];
  /** The last, for as long as something that it carried is to be had with that content. */
  rejection: Rejection | undefined;
  /** What the client uses, by key, in the place of contents and removals that it rejected and that are still to be had. */
  instead: ReadonlyMap<ResourceName, Resource | undefined>;
  /** By key, what it may have taken of responses that it rejected before the last one, the newest first: contents that it rejected again since. */
  perhaps: readonly Holding["instead"][];
  /** The keys of those that it blamed. */
  faulty: ReadonlySet<ResourceName>;
}

/** Shared by all that have none. */
export const none: readonly Sent[] = [];
export const nothing: Holding["instead"] = new Map();
export const noneTaken: Holding["perhaps"] = [];
export const noKeys: ReadonlySet<ResourceName> = new Set();
