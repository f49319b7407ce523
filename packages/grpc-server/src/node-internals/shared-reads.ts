import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** As much as Node reads at once. */
const readBytes = 64 * 1024;

/** Of Node's sockets, what its option `onread` sets where a program opens one itself. */
interface Readable {
  readonly _handle?: { readonly useUserBuffer?: (memory: Buffer) => void } | null;
  [symbol: symbol]: unknown;
}

/** Hears of bytes that came, which are only good until the call returns. */
export type LentBytes = (bytes: Buffer) => void;

/**
 * Makes a function that has sockets read into one piece of memory, the same for all: what came is used, or copied,
 * before the next read. Node allocates 64 kB for each read, which a fleet that comes back pays for in garbage. Node's
 * option `onread` does this, but only for sockets that a program opens, not for those that a server accepts; so what
 * that option sets is set here, in private parts of the socket. Fallback: where they are not there, or over TLS, it
 * returns false and has done nothing, and the caller reads by `data` events.
 */
export function createSharedReads(): (socket: Socket, receive: LentBytes) => boolean {
  const memory = Buffer.allocUnsafeSlow(readBytes);
  let symbols: readonly [buffer: symbol, callback: symbol] | undefined;

  return (socket, receive) => {
    // TLS decrypts into memory of its own.
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
      receive(memory.subarray(0, length));
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
