import { type StatusCode, statusCode } from "@xdskit/protocol";
import { type Accept, type Connection, type ConnectionHandler, lastWordMs, type Method } from "../../transport.js";

/** How a stream ended. */
export interface MemoryStatus {
  readonly code: StatusCode;
  readonly message: string;
}

/** What a client does with a response. */
export type MemoryReceiver = (message: Uint8Array) => void;

/** The client's end of a stream in memory. Messages arrive in a later microtask, as over a network they arrive later, too. */
export interface MemoryStream {
  /** Sends one request. Ignored after `finish`, and once the stream has ended. */
  send(bytes: Uint8Array): void;
  /** Half-closes: no more requests will come. */
  finish(): void;
  /** Goes away without a word, as a connection that breaks. */
  cancel(): void;
  /** Stops taking responses: the server has room for one more. */
  pause(): void;
  resume(): void;
  /** How the server ended the stream, after the last response that it got. After `cancel` it never resolves. */
  readonly status: Promise<MemoryStatus>;
  /** Resolves when nothing is left of the stream, whoever ended it. */
  readonly over: Promise<void>;
}

/** How many messages may be on the way to a client that takes them. */
const onTheWay = 16;

/** Opens a stream to whoever accepts it. */
export function openMemoryStream(options: {
  readonly peer: string;
  readonly method: Method;
  readonly accept: Accept;
  readonly receive: MemoryReceiver;
}): MemoryStream {
  const { peer, method, accept, receive } = options;
  let tell: (status: MemoryStatus) => void = () => {};
  let finishOver: () => void = () => {};
  const status = new Promise<MemoryStatus>((resolve) => {
    tell = resolve;
  });
  const over = new Promise<void>((resolve) => {
    finishOver = resolve;
  });
  const responses: Uint8Array[] = [];
  let end: MemoryStatus | undefined;
  let cutOff: NodeJS.Timeout | undefined;
  let paused = false;
  let full = false;
  let gone = false;
  let finished = false;
  let flushing = false;

  function flushSoon(): void {
    if (flushing) return;
    flushing = true;
    queueMicrotask(() => {
      flushing = false;
      flush();
    });
  }
  function flush(): void {
    while (!paused && !gone) {
      const response = responses.shift();
      if (response === undefined) break;
      receive(response);
    }
    if (gone || paused) return;
    if (end !== undefined) conclude(end);
    else if (full) {
      full = false;
      handler?.drained();
    }
  }
  function conclude(how: MemoryStatus): void {
    tell(how);
    leave();
  }
  function leave(): void {
    if (gone) return;
    gone = true;
    clearTimeout(cutOff);
    responses.length = 0;
    handler?.closed();
    finishOver();
  }

  const connection: Connection = {
    method,
    peer,
    send(body, tail) {
      if (gone || end !== undefined) return false;
      const response = new Uint8Array(body.byteLength + tail.byteLength);
      response.set(body);
      response.set(tail, body.byteLength);
      responses.push(response);
      flushSoon();
      full = paused || responses.length >= onTheWay;
      return !full;
    },
    end(code, message) {
      if (gone || end !== undefined) return;
      const how = { code, message };
      end = how;
      flushSoon();
      if (code !== statusCode.ok) cutOff = setTimeout(() => conclude(how), lastWordMs).unref();
    },
  };
  let handler: ConnectionHandler | undefined;
  const accepted = accept(connection);
  if ("code" in accepted) connection.end(accepted.code, accepted.message);
  else handler = accepted;

  const deliver = (action: (to: ConnectionHandler) => void) =>
    queueMicrotask(() => {
      if (!gone && end === undefined && handler !== undefined) action(handler);
    });
  return {
    send(bytes) {
      if (!finished) deliver((to) => to.received(bytes));
    },
    finish() {
      if (!finished) deliver((to) => to.finished());
      finished = true;
    },
    cancel: leave,
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      flushSoon();
    },
    status,
    over,
  };
}
