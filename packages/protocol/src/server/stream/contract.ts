import type { ResourceName, ResourceType } from "@xdskit/api";
import type { Snapshot } from "../../model/snapshot.js";
import type { ResourceError } from "../../wire/responses.js";
import type { StreamEffect } from "../contract/effects.js";
import type { ResourceErrorPolicy, TtlPolicy } from "../contract/options.js";
import type { OutgoingResponse } from "../contract/response.js";
import type { Ordering } from "../ordering/ordering.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import type { UnknownTypes } from "../requests/unknown-types.js";
import type { TypeStatus } from "../state/type-status.js";

/** What happens to a stream. Nothing else does: no clock, no network, no random source is read. */
export type StreamEvent =
  /** One request, as the client wrote it. */
  | { readonly kind: "request"; readonly bytes: Uint8Array }
  /**
   * What the node is to have from now on, or, where a pass over the types began, once that is over. The first may come
   * at once or much later (rule 7).
   */
  | {
      readonly kind: "snapshot";
      readonly snapshot: Snapshot;
      /**
       * Who is told TTLs. Left out, nobody is: it is for owners that make heartbeat events, since what has a TTL is
       * lost without.
       */
      readonly ttl?: TtlPolicy | undefined;
      /** Which clients of the node's group are told why resources are not there. Undefined: what the options say. */
      readonly resourceErrors?: ResourceErrorPolicy | undefined;
      /**
       * Changes go out make before break, in stages that wait for acknowledgements. Undefined: each at once, in the
       * order of delivery.
       */
      readonly ordering?: Ordering | undefined;
      /**
       * The lineage of snapshots of which this is the newest: a settled stream goes along with it. Undefined: it must
       * be given each snapshot.
       */
      readonly lineage?: SnapshotLineage | undefined;
      /**
       * Types of which it is not known yet what there is: a client that asks for all of one, or for a collection, gets
       * no answer of that type, since an empty one would take from it what it has. Names are answered as ever.
       */
      readonly unknown?: UnknownTypes;
    }
  /**
   * Time went by: what needs a heartbeat every so many milliseconds, or more often, is to have one, if the client holds
   * it. Nothing happens on a stream whose client is not told TTLs (`tellsTtl`).
   */
  | { readonly kind: "heartbeat"; readonly interval: number }
  /** Time went by; `deadline` says when that matters. */
  | { readonly kind: "time" }
  /**
   * It was decided that these names do not exist, of a type that is supplied on demand. What comes later is sent all
   * the same.
   */
  | {
      readonly kind: "absent";
      readonly type: ResourceType;
      readonly names: Iterable<ResourceName> /** Why, for some of them or all; told to clients that understand it. */;
      readonly errors?: readonly ResourceError[] | undefined;
    };

/**
 * The server's end of one discovery stream, ADS or per type, SotW or delta: events in, effects out, responses pulled
 * when there is room. Nothing queues inside: `next` computes what the client lacks at the moment it is called.
 *
 * A pass over the types, in delivery order, is made from one snapshot: a route must not overtake the cluster that it
 * names, and a client that takes one response at a time must get to its routes although clusters change all the while.
 * So once a response of a pass went out, a newer snapshot waits until the client lacks nothing of the one that the pass
 * is made from; what is requested meanwhile is answered from that one too, in the same order. Heartbeats, which name
 * nothing, go out between its responses. Before, the newest takes its place at once. A slow client gets the rest of one
 * pass, then one composed change (latest wins).
 */
export interface Stream {
  /**
   * Never throws because of what a client sent. After a `close` effect it ignores events. `now` is the time, in
   * milliseconds since some moment, and never goes back; left out, it is what it was.
   */
  step(event: StreamEvent, now?: number): readonly StreamEffect[];
  /**
   * The next response to send, of the pass that began or else of the newest snapshot; undefined when the client lacks
   * nothing. Call it only when the transport has room.
   */
  next(now?: number): OutgoingResponse | undefined;
  /** When it wants a `time` event, if nothing else happens before; undefined for never. */
  deadline(): number | undefined;
  /** The stream is over: others of its order wait for it no longer. */
  end(): void;
  /** What is known of each type that the client asked for, in delivery order. */
  status(): readonly TypeStatus[];
  /** The snapshot that it was given last, or that its line went on to since without anything new for its client. */
  readonly newest: Snapshot | undefined;
  /**
   * Whether it need not be given this snapshot: it was given it, or went along with its line up to there, as its order
   * did.
   */
  isAbreast(snapshot: Snapshot): boolean;
  /**
   * Of the types of which the client said what it has, and that no snapshot was compared with yet: whether that is
   * exactly what this snapshot has. Of names that it asks for, the client may lack some.
   */
  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean>;
  /**
   * The client uses exactly what the newest snapshot that it was given has for it: nothing is to be sent, on its way or
   * held back.
   */
  readonly isSettled: boolean;
}
