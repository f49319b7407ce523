import type { ApiVersion, ResourceType } from "@xdskit/api";
import type { Evidence } from "../identity/evidence.js";

/**
 * One client's request for the newest state of one type, without a stream. It is answered once, now or when there is
 * something new. REST-JSON brings such requests.
 */
export interface PollCall {
  /** The API version of the resources, whatever the request itself says (rule 142). */
  readonly api: ApiVersion;
  readonly type: ResourceType;
  /** The path that was called, for logs: `/v3/discovery:clusters`. */
  readonly path: string;
  /** The request, parsed. */
  readonly json: unknown;
  /** Of the request's body, as it was read. */
  readonly bytes: number;
  readonly connection: PollConnection;
  /** What the client brings to prove who it is. Left out: nothing. */
  readonly evidence?: (() => Evidence) | undefined;
}

/** The connection over which a client's polls come, one after another. */
export interface PollConnection {
  /** `127.0.0.1:51234`, for logs. */
  readonly peer: string;
  /** `127.0.0.1`: equal for all connections of one machine. */
  readonly address: string;
  /** False once the connection is gone: the client may be gone too, or may have lost what was sent last. */
  readonly open: boolean;
}

/** A response's body, shared by all polls that are answered with it: never write to it. */
export interface SharedBody {
  /** Without compression. */
  readonly bytes: Uint8Array;
  /** Compressed once for all polls with the same answer. */
  compressed(encoding: BodyEncoding): Promise<Uint8Array>;
}

/** How a body can be compressed, in HTTP's words. */
export type BodyEncoding = "br" | "gzip";

/** The answer of a poll. */
export type PollAnswer =
  | { readonly kind: "response"; readonly body: SharedBody }
  /** The client's version is current; there is no body. */
  | { readonly kind: "not-modified" }
  | PollRefusal;

/** Why a poll gets nothing, in HTTP's terms. */
export interface PollRefusal {
  readonly kind: "refused";
  readonly status: 400 | 403 | 404 | 405 | 413 | 415 | 429 | 500 | 503;
  /** For people; no part of a request's content. */
  readonly message: string;
  /** The number of seconds after which another try may succeed. */
  readonly retryAfterS?: number;
}

/** The server's side of polls. A transport calls it; no method throws. */
export interface PollHandler {
  /**
   * Takes over a poll. `answer` is called once, perhaps at once, unless the returned function is called first because
   * the client is gone.
   */
  poll(call: PollCall, answer: (answer: PollAnswer) => void): () => void;
  /** Counts and reports a poll that the transport itself refused; returns the answer. */
  refuse(refusal: PollRefusal, from: { readonly peer: string; readonly path: string }): PollRefusal;
}

/** A way by which polls come in: REST, or the in-memory one of tests. */
export interface PollTransport {
  /** Starts to listen; resolves to the address in use, with the real port. */
  listen(address: string, handler: PollHandler): Promise<string>;
  /** Stops accepting; resolves when every poll has ended, at the latest after this many milliseconds. */
  close(timeoutMs: number): Promise<void>;
}
