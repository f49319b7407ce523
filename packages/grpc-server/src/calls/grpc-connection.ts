import type { Socket } from "node:net";
import type { Http2Stream, Http2StreamHandler } from "../connection/http2-stream.js";
import type { HttpRequestHead } from "../frames/request-head.js";
import { type GrpcCode, grpcCode } from "../messages/grpc-code.js";
import type { HandshakeFailed } from "../sockets/handshakes.js";
import type { Peer } from "../sockets/peer.js";
import type { SocketContext, SocketHost } from "../sockets/served-socket.js";
import type { Patience } from "../timing/patience.js";
import type { ConnectionUse } from "./client-use.js";
import { type GrpcContext, serveGrpc } from "./grpc-call.js";

/** The parts that all connections of a server share. */
export interface ServingContext extends SocketContext, Pick<GrpcContext, "methods" | "requestBytes" | "patience"> {
  /** As the options of the server. */
  readonly options: {
    readonly refused?: ((peer: string, code: GrpcCode, message: string) => void) | undefined;
    readonly fault?: ((peer: string, error: unknown) => void) | undefined;
    readonly handshakeFailed?: HandshakeFailed | undefined;
  };
  /** Why a stream was refused, since its connection has as many as it may. */
  readonly connectionIsFull: string;
  closed(socket: Socket): void;
}

/** A connection's place in the server: what it serves, and who hears of it. */
export class GrpcConnection implements SocketHost, GrpcContext {
  readonly #context: ServingContext;
  readonly #socket: Socket;
  readonly peer: Peer;
  readonly use: ConnectionUse;

  constructor(context: ServingContext, socket: Socket, peer: Peer, use: ConnectionUse) {
    this.#context = context;
    this.#socket = socket;
    this.peer = peer;
    this.use = use;
  }

  get methods(): GrpcContext["methods"] {
    return this.#context.methods;
  }

  get requestBytes(): number {
    return this.#context.requestBytes;
  }

  get patience(): Patience {
    return this.#context.patience;
  }

  get certificateEnds(): number | undefined {
    return this.peer.certificateEnds();
  }

  accept(head: HttpRequestHead, stream: Http2Stream): Http2StreamHandler {
    return serveGrpc(this, head, stream);
  }

  full(): void {
    this.refused(grpcCode.resourceExhausted, this.#context.connectionIsFull);
  }

  foreign(reason: string): void {
    this.#context.options.handshakeFailed?.(this.peer.text, reason);
  }

  refused(code: GrpcCode, message: string): void {
    this.#context.options.refused?.(this.peer.text, code, message);
  }

  readonly fault = (error: unknown): void => {
    this.#socket.destroy();
    this.failed(error);
  };

  failed(error: unknown): void {
    this.#context.options.fault?.(this.peer.text, error);
  }

  closed(): void {
    this.#context.closed(this.#socket);
  }

  released(): void {
    this.use.end();
  }
}
