import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Written } from "./output.js";
import { writeToSocket } from "./write-to-socket.js";

/** Of what the kernel did not take at once so much may wait for it before there is no room for more: as much as in Node's own streams. */
const mostWaiting = 16 * 1024;

/** What Node hands to the kernel's side with each write: where the kernel takes all at once it is as it was, and may be handed over again. */
interface WriteRequest {
  /** Less than 0 where it is not under way: then it was not needed. */
  getAsyncId(): number;
  oncomplete?: (status: number) => void;
  /** Keeps alive what is still to be written. */
  buffer?: readonly Buffer[];
}

/** What a socket writes by. Both return an error's number, or 0. */
interface Handle {
  writeBuffer(request: WriteRequest, chunk: Buffer): number | undefined;
  writev(request: WriteRequest, chunks: readonly Buffer[], areBuffers: true): number | undefined;
  /** Bytes that the kernel did not take yet. */
  readonly writeQueueSize: number;
}

/** Writes what a connection sends to its socket. */
export interface SocketWriter {
  /** In one call to the kernel as far as that takes it. After `full` the connection hears of room. */
  write(chunks: readonly Buffer[]): Written;
  /** The kernel has all that was written. */
  readonly isEmpty: boolean;
}

/**
 * Makes what writes to sockets without Node's streams: nothing of what those are for (waiting in line, being joined, being told of each write) is needed by who
 * gathers what it sends and hears from the kernel's side what became of it, and a push to a stream that was idle costs a sixth less. What a write needs besides is a
 * class that Node does not give away: the first socket writes by its stream, and shows it. Where this Node, or this kind of socket, does it in another way all go on as that one.
 */
export function createSocketWrites(): (socket: Socket, drained: () => void) => SocketWriter {
  let Request: (new () => WriteRequest) | undefined;
  /** Not in use. */
  let spare: WriteRequest | undefined;

  return (socket, drained) => {
    const handle = handleOf(socket);
    if (handle === undefined || Request === undefined) {
      if (handle !== undefined) learn(handle, (made) => (Request = made));
      socket.on("drain", drained);
      return {
        write: (chunks) => writeToSocket(socket, chunks),
        get isEmpty() {
          return socket.writableLength === 0;
        },
      };
    }
    const Class = Request;
    /** Writes that are under way. */
    let waiting = 0;
    let isFull = false;

    function completed(status: number): void {
      waiting -= 1;
      // It was destroyed meanwhile, or its peer is gone: what is left of its end follows.
      if (status < 0) socket.destroy();
      else if (isFull && waiting === 0) {
        isFull = false;
        drained();
      }
    }
    return {
      write(chunks) {
        const request = spare ?? new Class();
        spare = undefined;
        const [first] = chunks;
        const error =
          chunks.length === 1 ? handle.writeBuffer(request, first as Buffer) : handle.writev(request, chunks, true);
        if (error !== 0) {
          socket.destroy();
          return "gone";
        }
        // That nothing waits any more does not say so: there may have been room again before the kernel's side was asked for more.
        if (request.getAsyncId() < 0) {
          spare = request;
          return "gone";
        }
        waiting += 1;
        request.buffer = chunks;
        request.oncomplete = completed;
        isFull ||= handle.writeQueueSize >= mostWaiting;
        return isFull ? "full" : "kept";
      },
      get isEmpty() {
        return waiting === 0;
      },
    };
  };
}

/** Undefined where it is not what we know. */
function handleOf(socket: Socket): Handle | undefined {
  // Bytes of TLS go through its own memory.
  if (socket instanceof TLSSocket) return undefined;
  const handle = (socket as { readonly _handle?: Partial<Handle> | null })._handle;
  if (typeof handle?.writeBuffer !== "function" || typeof handle.writev !== "function") return undefined;
  return handle.writeQueueSize === 0 ? (handle as Handle) : undefined;
}

/** Tells the class of what Node hands over with the handle's first write. */
function learn(handle: Handle, tell: (made: new () => WriteRequest) => void): void {
  const { writeBuffer } = handle;
  handle.writeBuffer = (request, chunk) => {
    handle.writeBuffer = writeBuffer;
    const made: unknown = request.constructor;
    const isKnown = typeof made === "function" && made.name === "WriteWrap";
    if (isKnown && typeof request.getAsyncId === "function") tell(made as new () => WriteRequest);
    return writeBuffer.call(handle, request, chunk);
  };
}
