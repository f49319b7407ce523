import type { Registry, ResourceName, ResourceType, Version } from "@xdskit/api";
import type { Variant } from "../server/contract.js";

/** What every client of a crowd asks for of one type. */
export interface CrowdInterest {
  readonly type: ResourceType;
  /** These, and nothing else. Without: everything, of a type whose empty first request means so (CDS, LDS); of any other what the client's other resources name (EDS, RDS). */
  readonly names?: readonly ResourceName[] | undefined;
}

/** What all clients of a crowd have in common. */
export interface CrowdOptions {
  readonly variant: Variant;
  /** One stream for all types, or one a type. */
  readonly aggregated: boolean;
  readonly interests: readonly CrowdInterest[];
  /** Where messages are looked up. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
}

/** What a client holds of one type. Clients that hold the same have the same object. */
export interface Held {
  readonly type: ResourceType;
  /** State of the world: that of the response which brought it. Delta: made of what is held. Empty where nothing came yet. */
  readonly version: Version;
  /** Resources. */
  readonly size: number;
}

/** One response, as one client read it. It must be answered before anything else happens to the client. */
export interface CrowdResponse {
  readonly type: ResourceType;
  readonly resources: number;
  readonly removed: number;
  readonly from: Held;
  /** Once it is acknowledged; the same as `from` where nothing became different. */
  readonly to: Held;
  /** The first of its type on this stream. */
  readonly isFirst: boolean;
  /** Why it cannot be taken: a resource cannot be read. It is to be rejected with this. */
  readonly problem: string | undefined;
}

/** One request, ready for the wire. */
export interface CrowdRequest {
  readonly bytes: Uint8Array;
  readonly kind: "subscribe" | "ack" | "nack";
}

/** A type of which a client lacks something. */
export interface Lack {
  readonly type: ResourceType;
  /** Names that were asked for, or are to be; none where all was asked for, and nothing came. */
  readonly names: readonly ResourceName[];
}

/**
 * One of many clients. It asks as Envoy does: types in the order of delivery, the next one once what comes before it was answered; what is named once it is. What it
 * holds outlives its streams, and is claimed on the next ones. Streams have numbers from 0.
 */
export interface CrowdClient {
  /** How many it has: 1, or one a type. */
  readonly streams: number;
  /** The `/service/method` of a stream; undefined where the type has no such method. */
  pathOf(stream: number): string | undefined;
  /** The next request to send on a stream; undefined where there is none. The first one of a stream carries the node. */
  next(stream: number): CrowdRequest | undefined;
  /**
   * Reads a response; the bytes are the caller's again after it. Undefined where it is of a type that was not asked for. Throws `MalformedMessage` for what is no
   * response.
   */
  receive(stream: number, bytes: Uint8Array): CrowdResponse | undefined;
  /** Takes what was received, or rejects it. */
  answer(error?: string): void;
  /** The stream is gone. */
  closed(stream: number): void;
  /** All that it asks for was answered, and every name is there, or said not to be. */
  readonly isComplete: boolean;
  /** What `isComplete` waits for. */
  lacks(): readonly Lack[];
  /** By type, in the order of the options. */
  readonly held: readonly Held[];
}

/** Many clients that ask for the same things and mostly hold the same ones. */
export interface Crowd {
  /** `node` is the serialized `Node`. Clients with the same `group` are expected to be sent the same: it costs work, not correctness, where they are not. */
  createClient(node: Uint8Array, group: number): CrowdClient;
}
