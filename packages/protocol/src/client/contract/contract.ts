import type { Message } from "@bufbuild/protobuf";
import type {
  ApiVersion,
  Finding,
  Nonce,
  Registry,
  ResourceName,
  ResourceType,
  ResourceTypes,
  Steps,
  Version,
} from "@xdskit/api";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { StatusCode } from "../../wire/basics/status-code.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import type { ReceivedResource } from "./received.js";
import type { BadResource } from "./rejection.js";

/**
 * Checks a message beyond its encoding: the rules in the protos, and the client owner's own. Warnings reject nothing.
 */
export type CheckMessage = (type: ResourceType, name: ResourceName, message: Message) => readonly Finding[];

/** The limits of one client for one server. It rejects a response that exceeds a limit, and keeps its resources. */
export interface ClientStreamLimits {
  /** Resources in one response. */
  readonly resourcesPerResponse: number;
  /** Resources of one type that are retained. */
  readonly resourcesPerType: number;
  /** Bytes of everything that came on one stream and is retained, as `weightOf` counts them. */
  readonly retainedBytes: number;
  /** Characters of an `error_detail`. */
  readonly errorCharacters: number;
}

/** The options of a client's end. */
export interface ClientStreamOptions {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  readonly types: ResourceTypes;
  /** The registry of messages. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
  /** The type of a per-type stream; undefined on ADS. */
  readonly only: ResourceType | undefined;
  /** The serialized `Node`: v2's and v3's have the same field numbers. */
  readonly node: Uint8Array;
  /** With the first request of a stream (rule 113), or with every one. */
  readonly nodeOn: "first" | "every";
  /**
   * Undefined means that resources are taken as they come. A message is then read when it is first asked for, and
   * throws if it cannot be read.
   */
  readonly check: CheckMessage | undefined;
  readonly limits?: Partial<ClientStreamLimits> | undefined;
  /**
   * A name without an answer for this many milliseconds on an open stream does not exist (rule 166). Default 15,000.
   */
  readonly absentAfterMs?: number | undefined;
  /**
   * When good responses are acknowledged: `at-once`, or `when-told` by an `answer` event for each `received` effect, in
   * any order; answers go out in the order of a type's responses. Default `at-once`. A bad response is rejected at once
   * in both. Once 500 answers of a type wait behind a response without a decision, it is acknowledged. In SotW, names
   * wait for the answer, too: a request for them would acknowledge the response.
   */
  readonly answers?: "at-once" | "when-told" | undefined;
  /** Keep resources that the server removes, and report them as failing (A53). Default false. */
  readonly keepRemoved?: boolean | undefined;
  /** Drop a current resource when new content of it is rejected (A88). Default false. */
  readonly dropRejected?: boolean | undefined;
}

/** The events of the client's end. Nothing else happens to it: it reads no clock, no network and no random source. */
export type ClientStreamEvent =
  /**
   * These names are wanted from now on; `*` is the wildcard. Names that were already asked for need no request. On a
   * per-type stream only its type.
   */
  | { readonly kind: "subscribe"; readonly type: ResourceType; readonly names: readonly ResourceName[] }
  /** These are no longer wanted: resources that were there because of them alone are dropped silently. */
  | { readonly kind: "unsubscribe"; readonly type: ResourceType; readonly names: readonly ResourceName[] }
  /**
   * All that the client has of the type, from elsewhere (a cache on disk, another server). It silently replaces the
   * current resources. Its versions are those that this server may know; an empty version is one that no server knows.
   * The next stream claims the wanted part of it (rules 37 and 112), and learns that something is gone if the server
   * says so. In SotW it claims nothing if a wanted name is missing.
   */
  | {
      readonly kind: "hold";
      readonly type: ResourceType;
      readonly resources: readonly ReceivedResource[];
      /** The set's version, for SotW; empty if it is not known. */
      readonly version: Version;
      /** Whether that version is of all resources of the type. If not, the wildcard cannot claim it. Default false. */
      readonly isAll?: boolean | undefined;
    }
  /**
   * The client got data from another server meanwhile: the versions of its resources are no longer valid. It still
   * claims the resources, with empty versions (delta).
   */
  | { readonly kind: "forget-versions" }
  /** A new stream is open: requests may be pulled. */
  | { readonly kind: "opened" }
  /** The stream is gone. The resources stay; timers for names that may not exist stop (rule 166). */
  | { readonly kind: "closed" }
  /** One response, as the server wrote it. */
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  /**
   * The answer to a response, by the number of its `received` effect. Without an error it is acknowledged. Ignored if
   * the stream is gone.
   */
  | { readonly kind: "answer"; readonly response: number; readonly error?: string | undefined }
  /**
   * Time passed; `deadline` gives the time at which that matters. `unread`: responses may be waiting unread, heartbeats
   * among them, so silence says nothing and due timers start again. `unsent`: a pulled request may not have gone out
   * yet, so the server was not asked for its names.
   */
  | { readonly kind: "time"; readonly unread?: boolean | undefined; readonly unsent?: boolean | undefined };

export type TimeEvent = Extract<ClientStreamEvent, { readonly kind: "time" }>;

/** Why a requested name does not exist. */
export type AbsenceReason =
  /** No answer within `absentAfterMs` (rule 166). */
  | "timer"
  /**
   * The server said so: `removed_resources`, an alias without a resource (rule 138), a full state without it (rule 64),
   * an error NOT_FOUND.
   */
  | "told";

/** A change for the watchers of a type, by one response or at one moment. A name is in one of the lists, once. */
export interface ResourceUpdate {
  readonly type: ResourceType;
  /** New, or with new content. Not in it: unchanged resources that came again, and heartbeats. */
  readonly upserted: readonly ReceivedResource[];
  /**
   * Was there and is gone: the server removed it, its TTL ended (rule 134), or new content was rejected
   * (`dropRejected`).
   */
  readonly removed: readonly { readonly name: ResourceName; readonly reason: "removed" | "ttl" | "rejected" }[];
  /** Was asked for by this name and does not exist. A name that was there is in `removed` instead. */
  readonly absent: readonly {
    readonly name: ResourceName;
    readonly reason: AbsenceReason;
    readonly error: ResourceError | undefined;
  }[];
  /**
   * The server cannot give it now, and the current resource stays good (`resource_errors` with other codes than
   * NOT_FOUND and PERMISSION_DENIED); or the server removed it, and it is kept (`keepRemoved`).
   */
  readonly failing: readonly ResourceError[];
}

/**
 * Something that the client's owner must do, or may report. The effects of one response come in the order of these
 * kinds: first the accepted resources, then the rejection, and last the end of the stream.
 */
export type ClientStreamEffect =
  /** A response was read; its number is for `answer`. Comes before its `update`, even if nothing changed. */
  | {
      readonly kind: "received";
      readonly type: ResourceType;
      readonly response: number;
      readonly version: Version;
      readonly nonce: Nonce;
      /** The number of its good resources, unchanged ones included. */
      readonly good: number;
      /** Something in it has a time to live, which begins anew. */
      readonly keepsAlive: boolean;
      /** It needs an `answer`: the options say so, and the machine did not reject it itself. */
      readonly awaitsAnswer: boolean;
    }
  /** At most one for a type and event. */
  | { readonly kind: "update"; readonly update: ResourceUpdate }
  /**
   * The response is rejected, as a whole or in part. If the type allows that, its good part was taken, and is in the
   * update.
   */
  | {
      readonly kind: "rejected";
      readonly type: ResourceType;
      readonly response: number;
      readonly version: Version;
      readonly nonce: Nonce;
      /** The text for `error_detail`. */
      readonly message: string;
      readonly bad: readonly BadResource[];
    }
  /**
   * A response cannot be read, the server ignores answers, or a v2 server cannot be asked anew: end the stream with
   * this status and open another one later. The machine treats it as closed.
   */
  | { readonly kind: "close"; readonly code: StatusCode; readonly message: string };

/** One request, ready for the wire. */
export interface OutgoingRequest {
  readonly type: ResourceType;
  readonly bytes: Uint8Array;
  /** `ack` and `nack` may change names as well. */
  readonly kind: "subscribe" | "ack" | "nack";
}

/** The state of one type, for people and CSDS. */
export interface ClientTypeStatus {
  readonly type: ResourceType;
  readonly wildcard: boolean;
  /** Asked for by name. */
  readonly names: readonly ResourceName[];
  /** The set's, of the last response that was taken. */
  readonly version: Version | undefined;
  /**
   * The client holds exactly the server's resources of that version, as far as they are wanted. False if a TTL ended
   * something, if a rejected response was taken in part, or if something newer is not acknowledged: a server that is
   * asked with this version would not send the rest.
   */
  readonly isWhole: boolean;
  readonly resources: ReadonlyMap<ResourceName, ReceivedResource>;
  /** `rejected`: the last content of it was not taken; earlier content is still in `resources`. */
  readonly states: (name: ResourceName) => "requested" | "current" | "absent" | "rejected";
  /** When the content of a name came, in the milliseconds of `step`; undefined if there is none. */
  readonly updatedAt: (name: ResourceName) => number | undefined;
  /**
   * The last rejection of a name, until good content of it came. With undefined as the name: of a resource whose name
   * could not be read, until a response was good.
   */
  readonly rejection: (name: ResourceName | undefined) => ClientRejection | undefined;
}

/** Why something was not taken. */
export interface ClientRejection {
  /** Of the response that brought it; of the resource itself if it has one (delta). */
  readonly version: Version;
  /** The fault of this resource. Never holds the value of a secret. */
  readonly message: string;
  /** In the milliseconds of `step`. */
  readonly at: number;
}

/**
 * The client's end of discovery: the names that are wanted of one server, and the current resources of it. Both outlive
 * streams. One machine for ADS, one for each type on per-type streams; only `opened` and `closed` know of streams.
 * Events in, effects out; requests are pulled while a stream is open and has room.
 */
export interface ClientStream {
  /** Never throws because of a server's bytes. `now` is in milliseconds and never goes back. */
  step(event: ClientStreamEvent, now: number): readonly ClientStreamEffect[];
  /**
   * Decodes and checks the resources of a long response one by one, so that others have turns in between. The
   * `response` event with these bytes then does the rest. It has the same effects with and without this, whatever
   * happens between. `forServer`: makes resources of snapshots, too (`ReceivedResource.resource`). Never throws.
   */
  prepare(bytes: Uint8Array, forServer: boolean): Steps<void>;
  /** The next request to send; undefined when there is none, or no stream. */
  next(): OutgoingRequest | undefined;
  /** The time at which it wants a `time` event, if nothing happens before. */
  deadline(): number | undefined;
  /** Nothing is wanted: no stream need be open. */
  readonly isIdle: boolean;
  status(): readonly ClientTypeStatus[];
}
