import type { ApiVersion, Nonce, ResourceName, ResourceType, ResourceTypes, TypeUrl, Version } from "@xdskit/api";
import type { ClaimedVersions } from "../messages/claimed-versions.js";
import type { ResourceError } from "../messages/responses.js";
import type { NameSet } from "../name-set.js";
import type { Node } from "../node.js";
import type { Snapshot } from "../snapshot.js";
import type { Rejection } from "./client-use.js";
import type { WaitEnded } from "./ordered-stream.js";
import type { Ordering } from "./ordering.js";
import type { SnapshotLine } from "./snapshot-line.js";
import type { TypeStatus } from "./type-status.js";
import type { UnknownTypes } from "./unknown-types.js";

/** State of the world, or incremental. */
export type Variant = "sotw" | "delta";

/** gRPC status codes that a stream may end with; the numbers are gRPC's. */
export const statusCode = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** One of these codes. */
export type StatusCode = (typeof statusCode)[keyof typeof statusCode];

/**
 * Which clients are told of TTLs: those that say that they understand them, and Envoys of which that is known by their
 * version (`auto`); only those that say so (`advertised`); or also those that say nothing, but for gRPC's (`always`).
 */
export type TtlPolicy = (typeof ttlPolicies)[number];

/** All of them; the first is the default. */
export const ttlPolicies = ["auto", "advertised", "always"] as const;

/**
 * Which clients are told why a resource is not there (`resource_errors`, xRFC TP3): those that say that they understand it (`advertised`), or all of v3
 * (`always`): TP3 lets servers send the field to everybody, since who does not know it ignores it.
 */
export type ResourceErrorPolicy = "advertised" | "always";

/** What one stream may cost. A request that goes beyond a limit ends that stream with RESOURCE_EXHAUSTED (rule 162), no other. */
export interface StreamLimits {
  /** Names in one request. */
  readonly namesPerRequest: number;
  /**
   * Names that one stream may be subscribed to, over all types, of 256 characters in the mean; also names of one type that may wait to be answered, and resources of one type
   * that a reconnecting delta client may say it has.
   */
  readonly namesPerStream: number;
  /** Bytes of a node, without its extensions: all that is kept of it for as long as the stream lives. */
  readonly nodeBytes: number;
  /** Types that one stream may ask for. */
  readonly typesPerStream: number;
}

/** What streams keep of what their clients say: names, the node, and versions that a client claims to have. */
export type HeldItem = NameSet | Node | ClaimedVersions;

/** Counts what the streams of one connection keep of what their client says. */
export interface HeldMemory {
  /** A stream keeps `after` in the place of `before`, undefined for nothing; says why that is too much, if so. */
  change(before: HeldItem | undefined, after: HeldItem | undefined): string | undefined;
  /** The equal node that another stream of the connection keeps, or this one. */
  sameNode(node: Node): Node;
}

/** What one stream is, and what it may take. */
export interface StreamOptions {
  readonly variant: Variant;
  /** Of the method that the client called: messages and type URLs of the responses follow it. */
  readonly api: ApiVersion;
  readonly types: ResourceTypes;
  /** The type of a per-type stream; undefined on ADS. */
  readonly only: ResourceType | undefined;
  readonly limits: StreamLimits;
  /** Used for a client that sends no node; undefined refuses it with INVALID_ARGUMENT. */
  readonly defaultNode: Node | undefined;
  /**
   * v3 type URLs of the types of which what is missing may be supplied on demand: what a client names and the snapshot lacks is not said to be absent
   * before an `absent` event decides so. Whoever lists a type here must decide on every name of a `demanded` effect. Default: none.
   */
  readonly onDemand?: ReadonlySet<TypeUrl> | undefined;
  /** The authorities of names of federation (`xdstp://authority/…`) that are served; names of others do not exist. Default: any. */
  readonly authorities?: ReadonlySet<string> | undefined;
  /** Called when something happened on another stream of the same order that this one may have waited for: `next` may have something. */
  readonly progressed?: (() => void) | undefined;
  /** Which clients are told why resources are not there. Default `advertised`. */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /** Is told of what the stream keeps of what its client says, until `end`. Default: nobody is. */
  readonly heldMemory?: HeldMemory | undefined;
}

/** What happens to a stream. Nothing else does: no clock, no network, no random source is read. */
export type StreamEvent =
  /** One request, as the client wrote it. */
  | { readonly kind: "request"; readonly bytes: Uint8Array }
  /** What the node is to have from now on, or, where a pass over the types began, once that is over. The first may come at once or much later (rule 7). */
  | {
      readonly kind: "snapshot";
      readonly snapshot: Snapshot;
      /** Who is told TTLs. Left out, nobody is: it is for owners that make heartbeat events, since what has a TTL is lost without. */
      readonly ttl?: TtlPolicy | undefined;
      /** Which clients of the node's group are told why resources are not there. Undefined: what the options say. */
      readonly resourceErrors?: ResourceErrorPolicy | undefined;
      /** Changes go out make before break, in stages that wait for acknowledgements. Undefined: each at once, in the order of delivery. */
      readonly ordering?: Ordering | undefined;
      /** The line of snapshots of which this is the newest: a stream that rests goes along with it. Undefined: it must be given each snapshot. */
      readonly line?: SnapshotLine | undefined;
      /**
       * Types of which it is not known yet what there is: a client that asks for all of one, or for a collection, gets no answer of that type, since an empty one would take from
       * it what it has. Names are answered as ever.
       */
      readonly unknown?: UnknownTypes;
    }
  /**
   * Time went by: what needs a heartbeat every so many milliseconds, or more often, is to have one, if the client holds it. Nothing happens on a
   * stream whose client is not told TTLs (`tellsTtl`).
   */
  | { readonly kind: "heartbeat"; readonly interval: number }
  /** Time went by; `deadline` says when that matters. */
  | { readonly kind: "time" }
  /** It was decided that these names do not exist, of a type that is supplied on demand. What comes later is sent all the same. */
  | {
      readonly kind: "absent";
      readonly type: ResourceType;
      readonly names: Iterable<ResourceName> /** Why, for some of them or all; told to clients that understand it. */;
      readonly errors?: readonly ResourceError[] | undefined;
    };

/** What the owner of a stream must do or may note down after an event. */
export type StreamEffect =
  /** The first request named the node: find its group and answer with a snapshot event, or end the stream. Once per stream. */
  | { readonly kind: "identified"; readonly node: Node }
  /** End the stream with this status; the machine takes no further events. */
  | { readonly kind: "close"; readonly code: StatusCode; readonly message: string }
  | { readonly kind: "subscribed"; readonly type: ResourceType; readonly wildcard: boolean; readonly names: number }
  /** The client asks for names of an authority that is not served. Once for each authority, and for a few of them. */
  | { readonly kind: "foreign"; readonly type: ResourceType; readonly authority: string }
  /** What the client asks for by name changed, of a type that is supplied on demand. None of the lists names anything twice. */
  | {
      readonly kind: "demanded";
      readonly type: ResourceType;
      readonly added: readonly ResourceName[];
      /** Asked for before, and now once more: it waits for another decision. */
      readonly again: readonly ResourceName[];
      readonly dropped: readonly ResourceName[];
      /** All that it asks for by name from now on; streams that ask for the same share it. */
      readonly names: Iterable<ResourceName>;
    }
  | { readonly kind: "acknowledged"; readonly type: ResourceType; readonly nonce: Nonce; readonly version: Version }
  | {
      readonly kind: "rejected";
      readonly type: ResourceType;
      readonly nonce: Nonce;
      readonly version: Version;
      /** From `error_detail`, cut to a bounded length. */
      readonly code: number;
      readonly message: string;
      readonly rejection: Rejection;
    }
  /** A client did not answer in time: what waited for it goes on without. */
  | ({ readonly kind: "wait-ended" } & WaitEnded)
  /** The client acknowledged what it is to have, of which so many resources have a TTL that it is not told (`TtlPolicy`). Once for each type. */
  | { readonly kind: "ttl-untold"; readonly type: ResourceType; readonly resources: number }
  /** A SotW request with an old or unknown nonce, which was ignored (rules 27, 28). */
  | { readonly kind: "stale"; readonly type: ResourceType };

/** What many streams send. Its bytes are the same at all times, and must not be written to. */
export interface ResponseBody {
  /** In bytes. */
  readonly length: number;
  /** All of it: encoded once for those that send it about the same time, and kept as long as one of them holds it. */
  readonly bytes: Uint8Array;
  /** The same, if it need not be encoded again. */
  readonly atHand: Uint8Array | undefined;
  /** What follows an offset, in pieces, each encoded as it is asked for: for who is slow, and would keep all of it for long. */
  rest(from: number): Iterator<Uint8Array>;
}

/** One response, ready for the wire: `body` followed by `tail` is the serialized message. */
export interface OutgoingResponse {
  readonly type: ResourceType;
  readonly nonce: Nonce;
  /** The set's version that it brings the client to. */
  readonly version: Version;
  /** How many resources it holds, and how many names it removes. */
  readonly resources: number;
  readonly removed: number;
  /** It only starts TTLs anew: nothing in it is new to the client. */
  readonly isHeartbeat: boolean;
  /** Everything but the nonce; shared by all streams that need the same response. */
  readonly body: ResponseBody;
  /** The nonce, as a field that follows the body. */
  readonly tail: Uint8Array;
}

/**
 * The server's end of one discovery stream, ADS or per type, SotW or delta: events in, effects out, responses pulled when there is room.
 * Nothing queues inside: `next` computes what the client lacks at the moment it is called.
 *
 * A pass over the types, in delivery order, is made from one snapshot: a route must not overtake the cluster that it names, and a client that takes
 * one response at a time must get to its routes although clusters change all the while. So once a response of a pass went out, a newer snapshot waits
 * until the client lacks nothing of the one that the pass is made from; what is requested meanwhile is answered from that one too, in the
 * same order. Heartbeats, which name nothing, go out between its responses. Before, the newest takes its place at once. A slow client gets the rest of one pass, then one composed change (latest wins).
 */
export interface Stream {
  /**
   * Never throws because of what a client sent. After a `close` effect it ignores events. `now` is the time, in milliseconds since some moment, and never goes
   * back; left out, it is what it was.
   */
  step(event: StreamEvent, now?: number): readonly StreamEffect[];
  /**
   * The next response to send, of the pass that began or else of the newest snapshot; undefined when the client lacks nothing. Call it only when the
   * transport has room.
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
  /** Whether it need not be given this snapshot: it was given it, or went along with its line up to there, as its order did. */
  isAbreast(snapshot: Snapshot): boolean;
  /** The client uses exactly what the newest snapshot that it was given has for it: nothing is to be sent, on its way or held back. */
  readonly isSettled: boolean;
}
