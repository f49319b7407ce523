import type { Nonce, Resource, ResourceName, Version } from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";

/** The record of a response that a stream sent, with its number on the stream. */
export interface NumberedResponse {
  readonly nonce: Nonce;
  readonly version: Version;
  /** The number of the response on its stream, over all types, from 1. */
  readonly count: number;
  /** The `count` of the type's last response that is no heartbeat, up to this one; 0 if there is none. */
  readonly lastContentCount: number;
  /** When it was sent, in milliseconds of the machine's time. */
  readonly at: number;
  /**
   * When the oldest change in it was published, in milliseconds; undefined if it only answers a request, or nobody
   * recorded the time.
   */
  readonly published: number | undefined;
  /** The client is at this set once it used the response. */
  readonly set: ResourceSet;
  /** The resources in it that are new to the client, or changed (`Content.fresh`). */
  readonly carried: readonly Resource[];
  /** The names that it removes: delta only. */
  readonly removed: readonly ResourceName[];
  /** The resources in it with a TTL, as `identityOf` names them; empty for a client that is not told TTLs. */
  readonly perishable: NameSet;
  readonly isHeartbeat: boolean;
  /** A heartbeat without bodies. */
  readonly isBare: boolean;
}

/** One object for all clients with nothing in flight. */
export const noneInFlight: readonly NumberedResponse[] = [];
