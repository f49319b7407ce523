import type { ResourceName, ResourceType, TypeUrl } from "@xdskit/api";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import type { StreamEffect } from "../contract/effects.js";
import type { ResourceErrorPolicy, TtlPolicy } from "../contract/options.js";
import type { OutgoingResponse } from "../contract/response.js";
import type { Ordering } from "../ordering/ordering.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import type { UnknownTypes } from "../requests/unknown-types.js";
import type { ClaimedSnapshot } from "../responses/claimed-snapshot.js";
import type { TypeStatus } from "../state/type-status.js";

/** Everything that happens to a stream. The machine reads no clock, no network and no random source. */
export type StreamEvent =
  /** One request, as the client wrote it. */
  | { readonly kind: "request"; readonly bytes: Uint8Array }
  /**
   * The node's target from now on or, if a pass over the types has begun, after that pass. The first one may come at
   * once or much later (rule 7).
   */
  | {
      readonly kind: "snapshot";
      readonly snapshot: Snapshot;
      /**
       * The clients that are told TTLs. Undefined means none. Only for owners that send heartbeat events, since a
       * client drops resources with a TTL without heartbeats.
       */
      readonly ttl?: TtlPolicy | undefined;
      /** The clients of the node's group that are told why resources are absent. Undefined means as in the options. */
      readonly resourceErrors?: ResourceErrorPolicy | undefined;
      /**
       * Sends changes make before break, in stages that wait for acknowledgements. Undefined means that each change
       * goes at once, in delivery order.
       */
      readonly ordering?: Ordering | undefined;
      /**
       * The lineage whose newest snapshot this is: a stream in sync follows it. Undefined means that the stream must be
       * given each snapshot.
       */
      readonly lineage?: SnapshotLineage | undefined;
      /**
       * Types whose resources are not known yet. A client that asks for everything or for a collection of such a type
       * gets no answer: an empty one would remove its resources. Requests by name are answered as usual.
       */
      readonly unknown?: UnknownTypes;
    }
  /**
   * Time passed: resources that need a heartbeat at least every `interval` milliseconds must get one, if the client
   * holds them. Does nothing if the client is not told TTLs (`tellsTtl`).
   */
  | { readonly kind: "heartbeat"; readonly interval: number }
  /** Time passed; `deadline` gives the time at which that matters. */
  | { readonly kind: "time" }
  /**
   * The owner decided that these names do not exist, for a type that is supplied on demand. Resources that come later
   * are sent all the same.
   */
  | {
      readonly kind: "absent";
      readonly type: ResourceType;
      readonly names: Iterable<ResourceName>;
      /** Why, for some of the names or all; told to clients that understand it. */
      readonly errors?: readonly ResourceError[] | undefined;
    };

/**
 * The server's end of one discovery stream, ADS or per type, SotW or delta. Events go in, effects come out, and the
 * owner pulls responses when there is room. Nothing queues inside: `next` computes the client's missing changes at that
 * moment.
 *
 * A pass over the types, in delivery order, is made from one snapshot. A route must not overtake the cluster that it
 * names, and a slow client must reach its routes even if clusters change all the time. So once a response of a pass
 * went out, a newer snapshot waits until the client lacks nothing of the pass's snapshot. Requests that come meanwhile
 * are answered from that snapshot too, in the same order. Heartbeats, which name nothing, go out between its responses.
 * Before the first response, the newest snapshot replaces the old one at once. A slow client gets the rest of one pass,
 * then one composed change (latest wins).
 */
export interface Stream {
  /**
   * Never throws because of a client's bytes. After a `close` effect it ignores events. `now` is the time in
   * milliseconds since some moment, and never goes back. Default: the last value.
   */
  step(event: StreamEvent, now?: number): readonly StreamEffect[];
  /**
   * The next response to send: of the pass that has begun, or else of the newest snapshot. Undefined if the client
   * lacks nothing. Call it only when the transport has room.
   */
  next(now?: number): OutgoingResponse | undefined;
  /** The time at which it wants a `time` event, if nothing else happens before; undefined for never. */
  deadline(): number | undefined;
  /** Ends the stream: others of its order no longer wait for it. */
  end(): void;
  /** The status of each type that the client asked for, in delivery order. */
  status(): readonly TypeStatus[];
  /**
   * The client's target: the last given snapshot, or the later one that its lineage reached without anything new for
   * its client.
   */
  readonly newest: Snapshot | undefined;
  /** Whether it need not be given this snapshot: it was given it, or it and its order followed the lineage to it. */
  isUpToDateWith(snapshot: Snapshot): boolean;
  /**
   * Covers the types for which the client made claims that no snapshot was compared with yet: whether the client has
   * exactly the contents of this snapshot. It may lack some names that it asks for. Undefined: the version does not
   * tell, as in SotW for a type that is asked for by name.
   */
  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean | undefined>;
  /**
   * The client's resources, put together from its claims and from snapshots that it may have been served, newest first.
   * Given to the stream as its first snapshot, it costs a client that has it nothing. `before`: what this returned
   * earlier, if the stream was given that, and its client has made claims of further types since.
   */
  claimed(known: readonly [Snapshot, ...Snapshot[]], before?: ClaimedSnapshot): ClaimedSnapshot;
  /** What the client asks for, by type. */
  readonly asked: Pick<ReadonlyMap<TypeUrl, { readonly subscription: Subscription }>, "get" | "has" | "size">;
  /**
   * True if the client uses exactly its part of the newest given snapshot: nothing is due or in flight, and nothing
   * waits.
   */
  readonly isInSync: boolean;
}
