import type { DiscoveryMethod } from "./methods.js";

/** The events of a stream. After `ended` there are none. */
export interface StreamHandler {
  /** The connection is up and the method is called: the timeouts of names start now (rule 166). */
  opened(): void;
  /** One response, after `read`. */
  received(bytes: Uint8Array): void;
  /** The end of the stream, even if it never opened. Codes are gRPC's. Never called before `open` returned. */
  ended(code: number, message: string): void;
}

/** One stream. */
export interface UpstreamStream {
  /** Sends a request; `sent` is called when there is room for another. */
  send(bytes: Uint8Array, sent: () => void): void;
  /** Asks for one more response: nothing is read before. */
  read(): void;
  /** Half-closes: the server ends the stream with OK. */
  finish(): void;
  /** Ends it at once. */
  cancel(code: number, message: string): void;
}

/** Opens streams to one server. */
export interface StreamTransport {
  open(method: DiscoveryMethod, handler: StreamHandler): UpstreamStream;
  /** Releases the connection, once its streams have ended. */
  close(): void;
}
