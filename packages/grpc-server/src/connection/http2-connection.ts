import { ForeignProtocol } from "../frames/foreign-protocol.js";
import { ConnectionError } from "../frames/http2-errors.js";
import type { ConnectionHost, ConnectionLimits } from "./connection-host.js";
import { FloodGuard } from "./flood-guard.js";
import type { Http2StreamState } from "./http2-stream.js";
import { ReceivingEnd } from "./receiving-end.js";
import { SendingEnd } from "./sending-end.js";

/**
 * The server's end of one HTTP/2 connection (RFC 9113): bytes in, bytes out, no socket and no clock. A peer's mistake
 * ends its stream or the connection with the RFC's error; nothing throws out of here.
 */
export class Http2Connection {
  readonly #host: ConnectionHost;
  readonly #sending: SendingEnd;
  readonly #receiving: ReceivingEnd;
  #hasReceived = false;

  constructor(host: ConnectionHost, limits: ConnectionLimits) {
    this.#host = host;
    const flood = new FloodGuard(host.now);
    this.#sending = new SendingEnd(host, limits, flood);
    this.#receiving = new ReceivingEnd(host, limits, flood, this.#sending);
  }

  /** The client sent the preface and SETTINGS. */
  get isOpen(): boolean {
    return this.#receiving.isOpen;
  }

  /** The open streams. */
  get streams(): ReadonlyMap<number, Http2StreamState> {
    return this.#sending.streams;
  }

  /** Pings sent and not answered. */
  get pings(): number {
    return this.#sending.pings;
  }

  receive(bytes: Buffer): void {
    const sending = this.#sending;
    if (sending.isOver) return;
    this.#hasReceived = true;
    sending.sender.received();
    sending.output.begin();
    sending.greet();
    try {
      this.#receiving.receive(bytes);
      sending.output.checkUnread();
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      sending.fail(error.code, error.message);
      if (error instanceof ForeignProtocol) this.#host.foreign?.(error.message);
    } finally {
      sending.output.end();
    }
  }

  /** The socket has room again. */
  drained(): void {
    const { isOver, output, sender } = this.#sending;
    if (isOver) return;
    output.drained();
    output.begin();
    sender.flush();
    output.end();
  }

  /** The socket is gone. */
  closed(): void {
    this.#sending.closed();
  }

  /**
   * Pings the client, unless it sent something since the last time. `pings` tells whether a ping waits for its answer.
   */
  ping(): void {
    const hadReceived = this.#hasReceived;
    this.#hasReceived = false;
    if (!this.#sending.isOver && !hadReceived) this.#sending.ping();
  }

  /** Takes no further streams; the connection ends with its last one. */
  goAway(): void {
    this.#sending.goAway();
  }
}
