import type { Message } from "@bufbuild/protobuf";
import type {
  ApiVersion,
  Finding,
  Nonce,
  Registry,
  ResourceName,
  ResourceType,
  ResourceTypes,
  Version,
} from "@xdskit/api";
import type { ResourceError } from "../messages/responses.js";
import type { StatusCode, Variant } from "../server/contract.js";
import type { ReceivedResource } from "./received.js";
import type { BadResource } from "./rejection.js";

/** Checks a message beyond what its bytes say: the rules in the protos, and those of whoever uses the client. Findings that are warnings reject nothing. */
export type CheckMessage = (type: ResourceType, name: ResourceName, message: Message) => readonly Finding[];

/** What one client takes from one server. What goes beyond is rejected, and what was there stays. */
export interface ClientStreamLimits {
  /** Resources in one response. */
  readonly resourcesPerResponse: number;
  /** Resources of one type that are held. */
  readonly resourcesPerType: number;
  /** Bytes of all that is held of what came on one stream, as `weightOf` counts them. */
  readonly heldBytes: number;
  /** Characters of an `error_detail`. */
  readonly errorCharacters: number;
}

/** What a client's end is made with. */
export interface ClientStreamOptions {
  readonly variant: Variant;
  readonly api: ApiVersion;
  readonly types: ResourceTypes;
  /** Where messages are looked up. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** The type of a per-type stream; undefined on ADS. */
  readonly only: ResourceType | undefined;
  /** The serialized `Node`: v2's and v3's have the same field numbers. */
  readonly node: Uint8Array;
  /** With the first request of a stream (rule 113), or with every one. */
  readonly nodeOn: "first" | "every";
  /** Undefined: what is in a resource is taken as it came. No message is read before somebody asks for it, and one that cannot be read throws then. */
  readonly check: CheckMessage | undefined;
  readonly limits?: Partial<ClientStreamLimits> | undefined;
  /** After so many milliseconds on an open stream without an answer a name that was asked for does not exist (rule 166). Default 15,000. */
  readonly absentAfterMs?: number | undefined;
  /**
   * When what could be taken is acknowledged: `at-once`, or `when-told`, by an `answer` event for each `received` effect, in any order; answers go out in the order
   * of the responses of a type. Default `at-once`. What cannot be taken is rejected at once in both.
   */
  readonly answers?: "at-once" | "when-told" | undefined;
  /** What the server takes away is kept, and said to be failing (A53). Default false. */
  readonly keepRemoved?: boolean | undefined;
  /** What was held of a name goes when something new of it is rejected (A88). Default false. */
  readonly dropRejected?: boolean | undefined;
}

/** What happens to the client's end. Nothing else does: no clock, no network, no random source is read. */
export type ClientStreamEvent =
  /** Somebody wants these from now on; `*` is the wildcard. Names asked for already are no new request. On a per-type stream only its type. */
  | { readonly kind: "subscribe"; readonly type: ResourceType; readonly names: readonly ResourceName[] }
  /** Nobody wants these any more: what was held of them alone is forgotten without a word. */
  | { readonly kind: "unsubscribe"; readonly type: ResourceType; readonly names: readonly ResourceName[] }
  /**
   * All that the client has of the type, from elsewhere (a cache on disk, another server): it takes the place of what was held, without a word. At versions that this server may
   * know; an empty version is one that nobody knows. What is wanted of it is claimed on the next stream (rule 112), and told to be gone if the server says so.
   */
  | {
      readonly kind: "hold";
      readonly type: ResourceType;
      readonly resources: readonly ReceivedResource[];
      /** The set's version, for SotW; empty if it is not known. */
      readonly version: Version;
    }
  /** Another server spoke meanwhile: of what is held no version is known any more. It is claimed nevertheless, with empty versions (delta). */
  | { readonly kind: "forget-versions" }
  /** A new stream is open: requests may be pulled. */
  | { readonly kind: "opened" }
  /** The stream is gone. What is held stays; timers of names that do not exist stop (rule 166). */
  | { readonly kind: "closed" }
  /** One response, as the server wrote it. */
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  /** What is to be said to a response, by the number of its `received` effect. Without an error it is acknowledged. Ignored for a stream that is gone. */
  | { readonly kind: "answer"; readonly response: number; readonly error?: string | undefined }
  /**
   * Time went by; `deadline` says when that matters. `unread`: responses may lie unread, among them heartbeats, so that silence says nothing: what is due is waited for anew.
   * `unsent`: so may a request that was pulled, and nobody was asked yet for names.
   */
  | { readonly kind: "time"; readonly unread?: boolean | undefined; readonly unsent?: boolean | undefined };

export type TimeEvent = Extract<ClientStreamEvent, { readonly kind: "time" }>;

/** Why somebody who asked for a resource is told that there is none. */
export type AbsenceReason =
  /** No answer within `absentAfterMs` (rule 166). */
  | "timer"
  /** The server said so: `removed_resources`, an alias without a resource (rule 138), a full state without it (rule 64), an error NOT_FOUND. */
  | "told";

/** What became different for those who watch a type: all of one response, or of one moment. A name is in one of the lists, once. */
export interface ResourceUpdate {
  readonly type: ResourceType;
  /** New, or with another content. What came again as it was is not in it, nor is a heartbeat. */
  readonly upserted: readonly ReceivedResource[];
  /** Was held and is gone: by the server's word, because its TTL is over (rule 134), or with what was rejected (`dropRejected`). */
  readonly removed: readonly { readonly name: ResourceName; readonly reason: "removed" | "ttl" | "rejected" }[];
  /** Was asked for by this name and does not exist. Also where it was held: then it is in `removed`, and not here. */
  readonly absent: readonly {
    readonly name: ResourceName;
    readonly reason: AbsenceReason;
    readonly error: ResourceError | undefined;
  }[];
  /** The server cannot give it now; what is held stays good (`resource_errors` with other codes than NOT_FOUND and PERMISSION_DENIED); or takes it away, and it is kept (`keepRemoved`). */
  readonly failing: readonly ResourceError[];
}

/** What the owner of the client's end must do or may tell. Of one response in the order of these kinds: what was taken of it before what was rejected, and its end last. */
export type ClientStreamEffect =
  /** A response was read; its number, for `answer`. Comes before its `update`, also where nothing became different. */
  | {
      readonly kind: "received";
      readonly type: ResourceType;
      readonly response: number;
      readonly version: Version;
      readonly nonce: Nonce;
      /** How many resources of it are good, also those that came again as they were. */
      readonly good: number;
      /** Something in it has a time to live, which begins anew. */
      readonly keepsAlive: boolean;
      /** It needs an `answer`: the machine was told to wait for one, and did not reject it by itself. */
      readonly awaitsAnswer: boolean;
    }
  /** At most one for a type and event. */
  | { readonly kind: "update"; readonly update: ResourceUpdate }
  /** It is rejected, as a whole or in part; what is good of it was taken where the type allows that, and is in the update. */
  | {
      readonly kind: "rejected";
      readonly type: ResourceType;
      readonly response: number;
      readonly version: Version;
      readonly nonce: Nonce;
      /** What goes into `error_detail`. */
      readonly message: string;
      readonly bad: readonly BadResource[];
    }
  /** A response that cannot be read, a server that reads no answers, or one of v2 that cannot be asked anew: end the stream with this status and open another, later. For the machine it is closed. */
  | { readonly kind: "close"; readonly code: StatusCode; readonly message: string };

/** One request, ready for the wire. */
export interface OutgoingRequest {
  readonly type: ResourceType;
  readonly bytes: Uint8Array;
  /** `ack` and `nack` may change names as well. */
  readonly kind: "subscribe" | "ack" | "nack";
}

/** How far one type is, for people and CSDS. */
export interface ClientTypeStatus {
  readonly type: ResourceType;
  readonly wildcard: boolean;
  /** Asked for by name. */
  readonly names: readonly ResourceName[];
  /** The set's, of the last response that was taken. */
  readonly version: Version | undefined;
  /**
   * What is held is what the server gave at that version, and all of it that is wanted. Not so where a TTL ended something, where a part of what was rejected was taken, or where
   * what is newer is not acknowledged: a server that is asked with this version would not send what is missing.
   */
  readonly isWhole: boolean;
  readonly resources: ReadonlyMap<ResourceName, ReceivedResource>;
  /** `rejected`: what came last of it was not taken; what was held before is in `resources` still. */
  readonly states: (name: ResourceName) => "requested" | "held" | "absent" | "rejected";
  /** When what is held of a name came, in the milliseconds of `step`; undefined where nothing is held. */
  readonly updatedAt: (name: ResourceName) => number | undefined;
  /** What stands against a name: the last rejection of it, until something good of it came. Undefined as the name: of what could not even be named, until a response was good. */
  readonly rejection: (name: ResourceName | undefined) => ClientRejection | undefined;
}

/** Why something was not taken. */
export interface ClientRejection {
  /** Of the response that brought it; of the resource itself where it has one (delta). */
  readonly version: Version;
  /** What was wrong with this resource. Never holds the value of a secret. */
  readonly message: string;
  /** In the milliseconds of `step`. */
  readonly at: number;
}

/**
 * The client's end of discovery: what is wanted of one server and what is held of it, which outlive streams. One machine for ADS, one a type for per-type streams;
 * only `opened` and `closed` know of streams. Events in, effects out, requests pulled while a stream is open and has room.
 */
export interface ClientStream {
  /** Never throws because of what a server sent. `now` is in milliseconds and never goes back. */
  step(event: ClientStreamEvent, now: number): readonly ClientStreamEffect[];
  /** The next request to send; undefined when there is none, or no stream. */
  next(): OutgoingRequest | undefined;
  /** When it wants a `time` event, if nothing happens before. */
  deadline(): number | undefined;
  /** Nobody wants anything: no stream need be open. */
  readonly isIdle: boolean;
  status(): readonly ClientTypeStatus[];
}
