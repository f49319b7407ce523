import type { Registry, ResourceName, ResourceType, Version } from "@xdskit/api";
import type { SotwOrDelta } from "@xdskit/protocol";

/** The subscription of every client of a crowd to one type. */
export interface CrowdInterest {
  readonly type: ResourceType;
  /**
   * These names only. Undefined: everything, for a type whose empty first request means so (CDS, LDS); for other types
   * the names in the client's resources (EDS, RDS).
   */
  readonly names?: readonly ResourceName[] | undefined;
}

/** What all clients of a crowd share. */
export interface CrowdOptions {
  readonly variant: SotwOrDelta;
  /** One stream for all types, or one for each type. */
  readonly aggregated: boolean;
  readonly interests: readonly CrowdInterest[];
  /** Where messages are looked up. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
}

/** The resources that a client holds of one type. Clients that hold the same share one object. */
export interface Held {
  readonly type: ResourceType;
  /**
   * State of the world: the version of the last response. Delta: computed from the held resources. Empty before the
   * first response.
   */
  readonly version: Version;
  /** Resources. */
  readonly size: number;
}

/** One response, as one client read it. Answer it before anything else happens to the client. */
export interface CrowdResponse {
  readonly type: ResourceType;
  readonly resources: number;
  readonly removed: number;
  readonly from: Held;
  /** The state once it is acknowledged; equal to `from` if nothing changed. */
  readonly to: Held;
  /** The first of its type on this stream. */
  readonly isFirst: boolean;
  /** Why it cannot be taken: a resource cannot be read. Reject it with this text. */
  readonly problem: string | undefined;
}

/** One request, ready for the wire. */
export interface CrowdRequest {
  readonly bytes: Uint8Array;
  readonly kind: "subscribe" | "ack" | "nack";
}

/** A type for which a client still waits. */
export interface Lack {
  readonly type: ResourceType;
  /** The missing names; none where everything was asked for and nothing came. */
  readonly names: readonly ResourceName[];
}

/**
 * One of many clients. It asks as Envoy does: types in delivery order, each after the one before was answered; named
 * resources once they are named. Its resources outlive its streams, and it claims them on the next ones. Streams have
 * numbers from 0.
 */
export interface CrowdClient {
  /** The number of streams: 1, or one for each type. */
  readonly streams: number;
  /** The `/service/method` of a stream; undefined where the type has no such method. */
  pathOf(stream: number): string | undefined;
  /** The next request for a stream; undefined where there is none. The first one of a stream carries the node. */
  next(stream: number): CrowdRequest | undefined;
  /**
   * Reads a response; the caller owns the bytes again afterwards. Undefined for a type that was not asked for. Throws
   * `MalformedMessage` if it is not a response.
   */
  receive(stream: number, bytes: Uint8Array): CrowdResponse | undefined;
  /** Takes the response, or rejects it. */
  answer(error?: string): void;
  /** The stream is gone. */
  closed(stream: number): void;
  /** Every request was answered, and every name exists or is known to be missing. */
  readonly isComplete: boolean;
  /** What `isComplete` waits for. */
  lacks(): readonly Lack[];
  /** By type, in the order of the options. */
  readonly held: readonly Held[];
}

/** Many clients with the same subscriptions, which mostly hold the same resources. */
export interface Crowd {
  /**
   * `node` is the serialized `Node`. Clients of one `group` should be sent the same: if not, it costs work, but no
   * correctness.
   */
  createClient(node: Uint8Array, group: number): CrowdClient;
}
