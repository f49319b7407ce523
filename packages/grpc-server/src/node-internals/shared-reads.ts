import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** The size of one of Node's reads. */
const readBytes = 64 * 1024;

/** The private parts of Node's sockets that its option `onread` sets if a program opens one itself. */
interface Readable {
  readonly _handle?: { readonly useUserBuffer?: (memory: Buffer) => void } | null;
  [symbol: symbol]: unknown;
}

/** Receives a socket's bytes, which are only valid until the call returns. */
export type LentBytes = (socket: Socket, bytes: Buffer) => void;

/**
 * Makes a function that lets sockets read into one piece of memory, the same for all: the bytes are used, or copied,
 * before the next read. Node allocates 64 kB for each read, which is a lot of garbage when a fleet comes back. Node's
 * option `onread` does this, but only for sockets that a program opens, not for those that a server accepts; so this
 * function sets the same private parts of the socket as that option. Fallback: if they are missing, or over TLS, it
 * returns false and has done nothing, and the caller reads by `data` events.
 */
export function createSharedReads(): (socket: Socket, receive: LentBytes) => boolean {
  const memory = Buffer.allocUnsafeSlow(readBytes);
  let symbols: readonly [buffer: symbol, callback: symbol] | undefined;

  return (socket, receive) => {
    // TLS decrypts into its own memory.
    if (socket instanceof TLSSocket) return false;
    const readable = socket as unknown as Readable;
    const handle = readable._handle;
    symbols ??= symbolsOf(readable);
    if (symbols === undefined || typeof handle?.useUserBuffer !== "function") return false;
    const [buffer, callback] = symbols;
    if (readable[buffer] !== null || readable[callback] !== null) return false;
    handle.useUserBuffer(memory);
    readable[buffer] = memory;
    readable[callback] = (length: number) => {
      receive(socket, memory.subarray(0, length));
      // It may go on to read.
      return true;
    };
    return true;
  };
}

function symbolsOf(socket: object): readonly [symbol, symbol] | undefined {
  const symbols = Object.getOwnPropertySymbols(socket);
  const [buffer, callback] = ["kBuffer", "kBufferCb"].map((name) =>
    symbols.find(({ description }) => description === name),
  );
  return buffer === undefined || callback === undefined ? undefined : [buffer, callback];
}
