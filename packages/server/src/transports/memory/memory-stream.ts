import { type StatusCode, statusCode } from "@xdskit/protocol";
import {
  type Accept,
  type CallHandler,
  type DiscoveryCall,
  lastWordMs,
  type Method,
} from "../../contracts/transport.js";

/** The end of a stream. */
export interface MemoryStatus {
  readonly code: StatusCode;
  readonly message: string;
}

/** The client's handling of a response. */
export type MemoryReceiver = (message: Uint8Array) => void;

/** The client's end of a stream in memory. Messages arrive in a later microtask, as they do over a network. */
export interface MemoryStream {
  /** Sends one request. Ignored after `finish`, and once the stream has ended. */
  send(bytes: Uint8Array): void;
  /** Half-closes: no more requests will come. */
  finish(): void;
  /** Disconnects without a message, as a broken connection does. */
  cancel(): void;
  /** Stops taking responses: the server has room for one more. */
  pause(): void;
  resume(): void;
  /**
   * The end of the stream by the server, after the last response that the client got. After `cancel` it never resolves.
   */
  readonly status: Promise<MemoryStatus>;
  /** Resolves when nothing is left of the stream, whoever ended it. */
  readonly over: Promise<void>;
}

/** The number of messages that may be in flight to a client that takes them. */
const onTheWay = 16;

/** The options of a stream in memory. */
export interface MemoryStreamOptions {
  readonly peer: string;
  readonly method: Method;
  readonly accept: Accept;
  readonly receive: MemoryReceiver;
}

/** Opens a stream to a server. */
export function openMemoryStream(options: MemoryStreamOptions): MemoryStream {
  const call = new MemoryCall(options);
  let finished = false;
  return {
    send(bytes) {
      if (!finished) call.deliver((to) => to.received(bytes));
    },
    finish() {
      if (!finished) call.deliver((to) => to.finished());
      finished = true;
    },
    cancel: () => call.leave(),
    pause: () => call.pause(),
    resume: () => call.resume(),
    status: call.status,
    over: call.over,
  };
}

/** The server's end of a stream in memory, and the messages in flight to the client. */
class MemoryCall implements DiscoveryCall {
  readonly method: Method;
  readonly peer: string;
  readonly status: Promise<MemoryStatus>;
  readonly over: Promise<void>;
  readonly #receive: MemoryReceiver;
  readonly #handler: CallHandler | undefined;
  #tell: (status: MemoryStatus) => void = () => {};
  #finishOver: () => void = () => {};
  /** Responses that the client did not take yet. */
  readonly #responses: Uint8Array[] = [];
  #end: MemoryStatus | undefined;
  #cutOff: NodeJS.Timeout | undefined;
  #isPaused = false;
  #isFull = false;
  #isGone = false;
  #isFlushing = false;

  constructor({ peer, method, accept, receive }: MemoryStreamOptions) {
    this.peer = peer;
    this.method = method;
    this.#receive = receive;
    this.status = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.over = new Promise((resolve) => {
      this.#finishOver = resolve;
    });
    const accepted = accept(this);
    if ("code" in accepted) this.end(accepted.code, accepted.message);
    else this.#handler = accepted;
  }

  send(body: Uint8Array, tail: Uint8Array): boolean {
    if (this.#isGone || this.#end !== undefined) return false;
    const response = new Uint8Array(body.byteLength + tail.byteLength);
    response.set(body);
    response.set(tail, body.byteLength);
    this.#responses.push(response);
    this.#flushSoon();
    this.#isFull = this.#isPaused || this.#responses.length >= onTheWay;
    return !this.#isFull;
  }

  end(code: StatusCode, message: string): void {
    if (this.#isGone || this.#end !== undefined) return;
    const how = { code, message };
    this.#end = how;
    this.#flushSoon();
    if (code !== statusCode.ok) this.#cutOff = setTimeout(() => this.#conclude(how), lastWordMs).unref();
  }

  /** Tells the server of something, in a later microtask. */
  deliver(action: (to: CallHandler) => void): void {
    queueMicrotask(() => {
      if (!this.#isGone && this.#end === undefined && this.#handler !== undefined) action(this.#handler);
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#flushSoon();
  }

  leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearTimeout(this.#cutOff);
    this.#responses.length = 0;
    this.#handler?.closed();
    this.#finishOver();
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#isPaused && !this.#isGone) {
      const response = this.#responses.shift();
      if (response === undefined) break;
      this.#receive(response);
    }
    if (this.#isGone || this.#isPaused) return;
    if (this.#end !== undefined) this.#conclude(this.#end);
    else if (this.#isFull) {
      this.#isFull = false;
      this.#handler?.drained();
    }
  }

  #conclude(how: MemoryStatus): void {
    this.#tell(how);
    this.leave();
  }
}
