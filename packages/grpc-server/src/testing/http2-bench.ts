import assert from "node:assert/strict";
import { Http2Connection } from "../connection/http2-connection.js";
import type { Http2Stream, Http2StreamHandler } from "../connection/http2-stream.js";
import { Slab } from "../connection/output.js";
import { FrameReader } from "../frames/frame-reader.js";
import { flag, frame, frameType } from "../frames/frames.js";
import { encodeHeaders } from "../hpack/header-encoder.js";

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** SETTINGS that say nothing. */
export const noSettings = frame(frameType.settings, 0, 0, Buffer.alloc(0));
/** The header block of a gRPC request. */
export const request = encodeHeaders([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a/b"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
]);

/** The sent frames, one word each: `goaway:1`, `rst:3:5`, `data:1:12`, `headers:1`, `ping`, … */
export type Word = string;

/** A connection without a socket: frames in, words out. */
export interface Http2Bench {
  readonly connection: Http2Connection;
  readonly streams: Http2Stream[];
  /** The calls of the handlers: `data:hello`, `ended`, `drained`, `closed`. */
  readonly told: string[];
  send(...frames: readonly Uint8Array[]): void;
  /** The frames sent since the last call. */
  out(): Word[];
  isFinished(): boolean;
  /** The socket says that it is full, or has room again. */
  room(has: boolean): void;
  sentBytes(stream: number): number;
  /** Bytes that a full socket would keep of the last write: all of a chunk's memory. */
  keptBytes(): number;
  /** Lets this many milliseconds pass. */
  wait(ms: number): void;
  /** The number of its writes to the socket since the last call. */
  writes(): number;
  /** The data that went out on a stream. */
  outBytes(stream: number): string;
}

/**
 * A connection after its handshake, by default. Its clock stands still, except in `wait`. `frameBytes`: the largest
 * frame that the peer reads.
 */
export function http2Bench(
  options: { handshake?: boolean; streams?: number; settings?: Buffer; frameBytes?: number } = {},
): Http2Bench {
  const streams: Http2Stream[] = [];
  const told: string[] = [];
  let finished = false;
  let room = true;
  let writes = 0;
  let now = 0;
  const kept = new Set<ArrayBufferLike>();
  const peer = createPeer(options.frameBytes);
  const handler = (): Http2StreamHandler => ({
    data: (bytes, from) => told.push(`data:${bytes.toString("latin1", from)}`),
    ended: () => told.push("ended"),
    drained: () => told.push("drained"),
    stopped: () => told.push("stopped"),
    closed: () => told.push("closed"),
  });
  const connection = new Http2Connection(
    {
      slab: new Slab(),
      write(chunks) {
        writes += 1;
        if (room) kept.clear();
        else for (const { buffer } of chunks) kept.add(buffer);
        peer.receive(Buffer.concat(chunks));
        return room ? "gone" : "full";
      },
      finish() {
        finished = true;
      },
      now: () => now,
      accept(_head, stream) {
        streams.push(stream);
        return handler();
      },
    },
    { streams: options.streams ?? 100, headerBytes: 16_384 },
  );
  const result: Http2Bench = {
    connection,
    streams,
    told,
    send: (...frames) => lend(connection, Buffer.concat(frames)),
    out: () => peer.words.splice(0),
    isFinished: () => finished,
    keptBytes: () => Array.from(kept, ({ byteLength }) => byteLength).reduce((sum, bytes) => sum + bytes, 0),
    wait(ms) {
      now += ms;
    },
    writes() {
      const before = writes;
      writes = 0;
      return before;
    },
    room(has) {
      room = has;
      if (has) connection.drained();
    },
    sentBytes: (stream) => peer.dataOf(stream).reduce((bytes, { length }) => bytes + length, 0),
    outBytes: (stream) => Buffer.concat(peer.dataOf(stream)).toString("latin1"),
  };
  if (options.handshake !== false) {
    result.send(preface, options.settings ?? noSettings);
    assert.deepEqual(result.out(), ["settings", "window:0", "settings-ack"]);
  }
  return result;
}

const frameNames = [
  "data",
  "headers",
  "priority",
  "rst",
  "settings",
  "push",
  "ping",
  "goaway",
  "window",
  "continuation",
];

/** Reads what a connection sends: the frames as words, and the data of each stream. */
function createPeer(frameBytes: number | undefined) {
  const words: Word[] = [];
  const data = new Map<number, Buffer[]>();
  const reader = new FrameReader((type, flags, stream, payload) => {
    const name = `${frameNames[type]}${(flags & flag.ack) !== 0 && type === frameType.settings ? "-ack" : ""}`;
    if (type === frameType.goAway) words.push(`goaway:${payload.readUInt32BE(4)}`);
    else if (type === frameType.rstStream) words.push(`rst:${stream}:${payload.readUInt32BE(0)}`);
    else if (type === frameType.windowUpdate) words.push(`window:${stream}`);
    else if (type === frameType.data) {
      words.push(`data:${stream}:${payload.length}`);
      const all = data.get(stream) ?? [];
      all.push(Buffer.from(payload));
      data.set(stream, all);
    } else words.push(stream === 0 ? name : `${name}:${stream}${(flags & flag.endStream) !== 0 ? ":end" : ""}`);
  }, frameBytes);
  return {
    words,
    receive: (bytes: Buffer) => reader.receive(bytes),
    dataOf: (stream: number): readonly Buffer[] => data.get(stream) ?? [],
  };
}

/** HEADERS of a request that may have a body, on a stream. */
export const open = (stream: number, flags = 0) => frame(frameType.headers, flag.endHeaders | flags, stream, request);
/** DATA of a text. */
export const data = (stream: number, text: string, flags = 0) =>
  frame(frameType.data, flags, stream, Buffer.from(text));
/** Four bytes, the highest first. */
export const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** SETTINGS of one value. */
export const setting = (id: number, value: number) => {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return frame(frameType.settings, 0, 0, bytes);
};
/** HEADERS with these fields, on stream 1. */
export const fields = (...all: [string, string][]) => frame(frameType.headers, flag.endHeaders, 1, encodeHeaders(all));
/** The fields of a request. */
export const proper: [string, string][] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
];

/** Lets a connection read bytes that are only valid during the read, as sockets do. */
export function lend(connection: Http2Connection, bytes: Uint8Array): void {
  const lent = Buffer.from(bytes);
  connection.receive(lent);
  lent.fill(0xdb);
}
