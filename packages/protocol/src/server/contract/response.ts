import type { Nonce, ResourceType, Version } from "@xdskit/api";

/** What many streams send. Its bytes are the same at all times, and must not be written to. */
export interface ResponseBody {
  /** In bytes. */
  readonly length: number;
  /** All of it: encoded once for those that send it about the same time, and kept as long as one of them holds it. */
  readonly bytes: Uint8Array;
  /** The same, if it need not be encoded again. */
  readonly atHand: Uint8Array | undefined;
  /**
   * What follows an offset, in pieces, each encoded as it is asked for: for who is slow, and would keep all of it for
   * long.
   */
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
