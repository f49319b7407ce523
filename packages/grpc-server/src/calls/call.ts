import type { RemakableBytes } from "../connection/outgoing-queue.js";
import type { GrpcCode } from "../messages/grpc-code.js";
import type { Peer } from "../sockets/peer.js";

/** One call of a client, as its method sees it: messages out, and the end. */
export interface GrpcCall {
  /** The client's address, such as `127.0.0.1:51234`, for logs. */
  readonly peer: string;
  /**
   * Sends one message in two parts, which may be shared with other calls and must not change. False: the message was
   * taken, and there is no room for more until `drained`. `again` can produce the bytes of `body` again, so that a
   * message that waits need not be kept.
   */
  send(body: Uint8Array, tail?: Uint8Array, again?: RemakableBytes): boolean;
  /**
   * Ends the call with a status, after the sent messages. Nothing may be sent afterwards. With an error, the call is
   * cut off if the client has not read the messages before the status within `lastWordMs`.
   */
  end(code: GrpcCode, message: string): void;
}

/** A method's side of a call. The server calls it. No function may throw: a fault ends the connection. */
export interface GrpcCallHandler {
  /** Whether the client has everything that it asked for. Left out or undefined: unknown. */
  readonly isInSync?: boolean | undefined;
  /** One message, whole. The bytes are only good until the call returns. */
  received(bytes: Uint8Array): void;
  /** There is room to send again. */
  drained(): void;
  /** The client half-closed: it sends no more. */
  finished(): void;
  /** The call is gone, whatever the reason. Called once for each, after `end` too. */
  closed(): void;
}

/** The status of a refused call. */
export interface GrpcRefusal {
  readonly code: GrpcCode;
  readonly message: string;
}

/** The head of a client's request. The server does not keep it after `accept`. */
export interface GrpcRequest {
  /** `/service/Method`. */
  readonly path: string;
  /** Metadata, by lower-case name; values of a name that came twice are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** The other end of the connection. */
  readonly peer: Peer;
}

/** A method of a service. */
export interface GrpcMethod {
  /**
   * True: one message and one answer, and `accept` is called once the message is whole. False: a stream of messages,
   * in one direction or both.
   */
  readonly unary: boolean;
  /** Takes over a new call; a refusal ends it with that status. */
  accept(call: GrpcCall, request: GrpcRequest): GrpcCallHandler | GrpcRefusal;
}
