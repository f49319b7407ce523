import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { ResourceSet } from "../model/sets/resource-set.js";

/** A client's use of one type, as far as the server knows. */
export interface InUse {
  readonly type: ResourceType;
  /**
   * The set that the stream in question last sent. Undefined for a type of the client's other streams: nothing is
   * decided about those here.
   */
  readonly sentSet: ResourceSet | undefined;
  /** By key, the last good content of rejected resources; the value undefined means that the client uses none. */
  readonly lastGood: ReadonlyMap<ResourceName, Resource | undefined>;
  /**
   * Every set that the client may be using now: the acknowledged one, those in flight, and those that it rejected and
   * may have taken in part.
   */
  readonly used: ReadonlySet<ResourceSet>;
  /**
   * Listeners that were replaced or removed, as they were, and still serve connections. For a client that came back,
   * also resources of other types that they led to.
   */
  readonly draining: ReadonlySet<Resource>;
  /**
   * For a client with a wildcard: the sets that it acknowledged or will, on every stream with a wildcard. A resource
   * that is not in all of them is new to the client, which must acknowledge it before something names it. Undefined for
   * a client that asks by name, since it learns the names from the resources that refer to them, and for one that has
   * acknowledged nothing yet.
   */
  readonly ackedOrInFlight: ReadonlySet<ResourceSet> | undefined;
  /**
   * Nothing of the type was sent on this stream yet: the client may ask for names that it knows from an earlier
   * snapshot.
   */
  readonly isFirst: boolean;
  /**
   * Of a client that comes back, until its claims were compared: tells whether it may have a resource of an earlier
   * snapshot. Undefined if nobody knows.
   */
  readonly mayHave?: ((resource: Resource) => boolean) | undefined;
  /**
   * The client has or was sent something of the type. Its first response never waits: the client would wait for
   * it, and has no traffic yet that could break.
   */
  readonly isEstablished: boolean;
  /**
   * For a type that other streams carry: tells whether every stream that asks for a name has acknowledged it and at
   * least one asks, or the wait took too long. Undefined if the type is on the same stream or on none, if it has a
   * wildcard, and if the change waits for nothing any longer.
   */
  readonly isTaken: ((name: ResourceName) => boolean) | undefined;
}
