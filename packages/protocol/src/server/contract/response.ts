import type { Nonce, ResourceType, Version } from "@xdskit/api";

/** The part of a response that many streams share. Its bytes never change; do not write to them. */
export interface ResponseBody {
  /** In bytes. */
  readonly length: number;
  /**
   * The whole body. It is encoded once for the streams that send it at about the same time, and kept while one of them
   * holds it.
   */
  readonly bytes: Uint8Array;
  /** The whole body if it is encoded already. */
  readonly atHand: Uint8Array | undefined;
  /**
   * The bytes after an offset, in pieces; each is encoded on request. For a slow stream, which would hold the whole
   * body for long.
   */
  rest(from: number): Iterator<Uint8Array>;
}

/** One response, ready for the wire: `body` followed by `tail` is the serialized message. */
export interface OutgoingResponse {
  readonly type: ResourceType;
  readonly nonce: Nonce;
  /** The version of the set that the client is at once it used the response. */
  readonly version: Version;
  /** The number of resources in it; `removed` is the number of names that it removes. */
  readonly resources: number;
  readonly removed: number;
  /** It only restarts TTLs: nothing in it is new to the client. */
  readonly isHeartbeat: boolean;
  /** Everything but the nonce; shared by all streams that need the same response. */
  readonly body: ResponseBody;
  /** The nonce, as a field that follows the body. */
  readonly tail: Uint8Array;
}
