import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { FrameReader } from "../frames/frame-reader.js";
import { flag, frame, frameType } from "../frames/frames.js";
import { encodeHeaders } from "../hpack/header-encoder.js";
import { noSettings, preface } from "./http2-bench.js";
import { within } from "./wait-for.js";

/** A frame that came. */
export interface CameFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A client that writes frames into a socket as it likes, and keeps the received ones; it answers nothing by itself. */
export interface RawHttp2 {
  readonly socket: Socket;
  readonly frames: readonly CameFrame[];
  /** Writes, and waits until the kernel took it, or the connection is gone: then false. */
  send(...frames: readonly Uint8Array[]): Promise<boolean>;
  /** The code of GOAWAY, once it came. */
  readonly goAway: number | undefined;
  readonly isClosed: boolean;
  /** Bytes of messages that came on a stream. */
  dataOf(stream: number): Buffer;
  /** The block of the last HEADERS on a stream, as text: readable enough for the server's headers. */
  trailersOf(stream: number): string;
  /** Resolves when the connection is gone. */
  closed(): Promise<void>;
  /** Stops to read, or goes on. */
  reading(goesOn: boolean): void;
  end(): void;
}

/** The head of a gRPC request. */
export const headOf = (path: string, stream: number, flags = 0) =>
  frame(frameType.headers, flag.endHeaders | flags, stream, headBlock(path));

/** The header block alone. */
export const headBlock = (path: string) =>
  encodeHeaders([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ]);

/** A message in one frame of DATA. */
export function messageOn(stream: number, bytes: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return frame(frameType.data, flags, stream, Buffer.concat([prefix, bytes]));
}

/** Connects, and sends the preface and SETTINGS by default. */
export async function rawHttp2(address: string, { handshake = true } = {}): Promise<RawHttp2> {
  const [host = "", port = ""] = address.split(":");
  const socket = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
  const frames: CameFrame[] = [];
  const reader = new FrameReader((type, flags, stream, payload) => {
    frames.push({ type, flags, stream, payload: Buffer.from(payload) });
  }, 1 << 24);
  let isClosed = false;
  socket.on("error", () => {});
  socket.on("data", (bytes: Buffer) => reader.receive(bytes));
  // A flooding client notices the end when a write fails, or now.
  socket.on("end", () => socket.end());
  const gone = new Promise<void>((resolve) =>
    socket.once("close", () => {
      isClosed = true;
      resolve();
    }),
  );
  await once(socket, "connect");
  if (handshake) socket.write(Buffer.concat([preface, noSettings]));
  const ofStream = (type: number, id: number) => frames.filter((came) => came.type === type && came.stream === id);
  return {
    socket,
    frames,
    async send(...some) {
      if (isClosed || socket.writableEnded) return false;
      const written = new Promise<void>((resolve) => socket.write(Buffer.concat(some), () => resolve()));
      await Promise.race([written, gone]);
      return !isClosed;
    },
    get goAway() {
      return frames.find(({ type }) => type === frameType.goAway)?.payload.readUInt32BE(4);
    },
    get isClosed() {
      return isClosed;
    },
    dataOf: (id) => Buffer.concat(ofStream(frameType.data, id).map(({ payload }) => payload)),
    trailersOf: (id) => ofStream(frameType.headers, id).at(-1)?.payload.toString("latin1") ?? "",
    closed: () => within("the end of a connection", gone),
    reading: (goesOn) => void (goesOn ? socket.resume() : socket.pause()),
    end: () => void socket.destroy(),
  };
}
