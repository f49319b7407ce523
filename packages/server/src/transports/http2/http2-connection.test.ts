import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFrameReader } from "./frame-reader.js";
import { flag, frame, frameType } from "./frames.js";
import { encodeHeaders } from "./hpack/header-encoder.js";
import { Http2Connection } from "./http2-connection.js";
import { http2Error } from "./http2-errors.js";
import type { ServerStream, StreamHandler } from "./http2-stream.js";
import { Slab } from "./output.js";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const noSettings = frame(frameType.settings, 0, 0, Buffer.alloc(0));
const request = encodeHeaders([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a/b"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
]);

/** What went out, one word a frame: `goaway:1`, `rst:3:5`, `data:1:12`, `headers:1`, `ping`, … */
type Word = string;

interface Bench {
  readonly connection: Http2Connection;
  readonly streams: ServerStream[];
  /** What the handlers were told: `data:hello`, `ended`, `drained`, `closed`. */
  readonly told: string[];
  send(...frames: readonly Uint8Array[]): void;
  /** What went out since the last call. */
  out(): Word[];
  isFinished(): boolean;
  /** The socket says that it is full, or has room again. */
  room(has: boolean): void;
  sentBytes(stream: number): number;
}

function bench(options: { handshake?: boolean; streams?: number; settings?: Buffer } = {}): Bench {
  const words: Word[] = [];
  const streams: ServerStream[] = [];
  const told: string[] = [];
  const bytesOf = new Map<number, number>();
  let finished = false;
  let room = true;
  const reader = createFrameReader((type, flags, stream, payload) => {
    const names = [
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
    const name = `${names[type]}${(flags & flag.ack) !== 0 && type === frameType.settings ? "-ack" : ""}`;
    if (type === frameType.goAway) words.push(`goaway:${payload.readUInt32BE(4)}`);
    else if (type === frameType.rstStream) words.push(`rst:${stream}:${payload.readUInt32BE(0)}`);
    else if (type === frameType.windowUpdate) words.push(`window:${stream}`);
    else if (type === frameType.data) {
      words.push(`data:${stream}:${payload.length}`);
      bytesOf.set(stream, (bytesOf.get(stream) ?? 0) + payload.length);
    } else words.push(stream === 0 ? name : `${name}:${stream}${(flags & flag.endStream) !== 0 ? ":end" : ""}`);
  });
  const handler = (): StreamHandler => ({
    data: (bytes) => told.push(`data:${bytes.toString("latin1")}`),
    ended: () => told.push("ended"),
    drained: () => told.push("drained"),
    closed: () => told.push("closed"),
  });
  const connection = new Http2Connection(
    {
      slab: new Slab(),
      write(chunks) {
        reader.receive(Buffer.concat(chunks));
        return room ? "gone" : "full";
      },
      finish() {
        finished = true;
      },
      now: () => 0,
      accept(_head, stream) {
        streams.push(stream);
        return handler();
      },
    },
    { streams: options.streams ?? 100, headerBytes: 16_384 },
  );
  const result: Bench = {
    connection,
    streams,
    told,
    send: (...frames) => connection.receive(Buffer.concat(frames)),
    out: () => words.splice(0),
    isFinished: () => finished,
    room(has) {
      room = has;
      if (has) connection.drained();
    },
    sentBytes: (stream) => bytesOf.get(stream) ?? 0,
  };
  if (options.handshake !== false) {
    result.send(preface, options.settings ?? noSettings);
    assert.deepEqual(result.out(), ["settings", "settings-ack"]);
  }
  return result;
}

const open = (stream: number, flags = 0) => frame(frameType.headers, flag.endHeaders | flags, stream, request);
const data = (stream: number, text: string, flags = 0) => frame(frameType.data, flags, stream, Buffer.from(text));
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const setting = (id: number, value: number) => {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return frame(frameType.settings, 0, 0, bytes);
};
const fields = (...all: [string, string][]) => frame(frameType.headers, flag.endHeaders, 1, encodeHeaders(all));
const proper: [string, string][] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
];

describe("what a peer must not send", () => {
  const {
    protocolError,
    frameSizeError,
    flowControlError,
    streamClosed,
    compressionError,
    enhanceYourCalm,
    refusedStream,
  } = http2Error;
  const ends = (code: number) => [`goaway:${code}`];
  const resets = (code: number, stream = 1) => [`rst:${stream}:${code}`];
  const raw = (length: number, type: number, flags: number, stream: number) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return head;
  };
  const cases: readonly [string, readonly Uint8Array[], readonly Word[]][] = [
    ["DATA without a stream (6.1)", [data(0, "x")], ends(protocolError)],
    ["DATA on a stream that was never opened (5.1)", [data(1, "x")], ends(protocolError)],
    ["DATA after END_STREAM (5.1)", [open(1, flag.endStream), data(1, "x")], resets(streamClosed)],
    [
      "DATA with more padding than payload (6.1)",
      [open(1), frame(0, flag.padded, 1, Buffer.of(5, 1, 2))],
      ends(protocolError),
    ],
    [
      "DATA with padding and no length (6.1)",
      [open(1), frame(0, flag.padded, 1, Buffer.alloc(0))],
      ends(protocolError),
    ],
    ["a frame of more than 16,384 bytes (4.2)", [raw(16_385, 0, 0, 1)], ends(frameSizeError)],
    ["HEADERS without a stream (6.2)", [frame(1, flag.endHeaders, 0, request)], ends(protocolError)],
    ["HEADERS on an even stream (5.1.1)", [open(2)], ends(protocolError)],
    ["HEADERS on a lower stream (5.1.1)", [open(5), open(3)], ends(streamClosed)],
    [
      "HEADERS with more padding than payload",
      [frame(1, flag.endHeaders | flag.padded, 1, Buffer.of(9, 1))],
      ends(protocolError),
    ],
    [
      "HEADERS with half a priority",
      [frame(1, flag.endHeaders | flag.priority, 1, Buffer.of(0, 0))],
      ends(frameSizeError),
    ],
    ["a second head without END_STREAM (8.1)", [open(1), open(1)], resets(protocolError)],
    ["HEADERS after END_STREAM", [open(1, flag.endStream), open(1, flag.endStream)], resets(streamClosed)],
    [
      "another frame within a header block (6.10)",
      [frame(1, 0, 1, request), frame(6, 0, 0, Buffer.alloc(8))],
      ends(protocolError),
    ],
    [
      "CONTINUATION of another stream (6.10)",
      [frame(1, 0, 1, request), frame(9, flag.endHeaders, 3, Buffer.alloc(0))],
      ends(protocolError),
    ],
    ["CONTINUATION of nothing (6.10)", [frame(9, flag.endHeaders, 1, Buffer.alloc(0))], ends(protocolError)],
    [
      "CONTINUATION without end (CVE-2024-27316)",
      [frame(1, 0, 1, Buffer.alloc(0)), ...Array(40).fill(frame(9, 0, 1, Buffer.of(0)))],
      ends(enhanceYourCalm),
    ],
    [
      "a header block that cannot be read (4.3)",
      [frame(1, flag.endHeaders, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f))],
      ends(compressionError),
    ],
    [
      "a field that does not exist in the table",
      [frame(1, flag.endHeaders, 1, Buffer.of(0xc6))],
      ends(compressionError),
    ],
    [
      "headers beyond the limit",
      [frame(1, flag.endHeaders, 1, encodeHeaders([...proper, ["x", "y".repeat(16_000)], ["z", "z".repeat(360)]]))],
      resets(enhanceYourCalm),
    ],
    ["an upper-case field (8.2.1)", [fields(...proper, ["X-A", "b"])], resets(protocolError)],
    ["a line break in a value (8.2.1)", [fields(...proper, ["x-a", "b\nc"])], resets(protocolError)],
    ["a field of one connection (8.2.2)", [fields(...proper, ["connection", "close"])], resets(protocolError)],
    ["te with something else than trailers (8.2.2)", [fields(...proper, ["te", "gzip"])], resets(protocolError)],
    [
      "a pseudo-field behind others (8.3)",
      [fields([":method", "POST"], ["x", "y"], [":path", "/"], [":scheme", "http"])],
      resets(protocolError),
    ],
    ["an unknown pseudo-field (8.3)", [fields(...proper, [":status", "200"])], resets(protocolError)],
    ["a pseudo-field twice (8.3.1)", [fields(...proper, [":path", "/"])], resets(protocolError)],
    ["no path (8.3.1)", [fields([":method", "POST"], [":scheme", "http"])], resets(protocolError)],
    ["an empty path (8.3.1)", [fields([":method", "POST"], [":scheme", "http"], [":path", ""])], resets(protocolError)],
    [
      "pseudo-fields in trailers (8.1)",
      [open(1), frame(1, flag.endHeaders | flag.endStream, 1, encodeHeaders([[":path", "/"]]))],
      resets(protocolError),
    ],
    ["PRIORITY without a stream (6.3)", [frame(2, 0, 0, Buffer.alloc(5))], ends(protocolError)],
    ["PRIORITY of another size (6.3)", [frame(2, 0, 1, Buffer.alloc(4))], resets(frameSizeError)],
    ["RST_STREAM without a stream (6.4)", [frame(3, 0, 0, uint32(0))], ends(protocolError)],
    ["RST_STREAM of a stream never opened (6.4)", [frame(3, 0, 1, uint32(0))], ends(protocolError)],
    ["RST_STREAM of another size (6.4)", [open(1), frame(3, 0, 1, Buffer.alloc(3))], ends(frameSizeError)],
    ["SETTINGS on a stream (6.5)", [frame(4, 0, 1, Buffer.alloc(0))], ends(protocolError)],
    ["SETTINGS of an odd size (6.5)", [frame(4, 0, 0, Buffer.alloc(5))], ends(frameSizeError)],
    ["an answer to SETTINGS with content (6.5)", [frame(4, flag.ack, 0, Buffer.alloc(6))], ends(frameSizeError)],
    ["ENABLE_PUSH of 2 (6.5.2)", [setting(2, 2)], ends(protocolError)],
    ["a window of 2^31 (6.5.2)", [setting(4, 2 ** 31)], ends(flowControlError)],
    ["a frame size of 16,383 (6.5.2)", [setting(5, 16_383)], ends(protocolError)],
    ["a frame size of 2^24 (6.5.2)", [setting(5, 2 ** 24)], ends(protocolError)],
    ["PUSH_PROMISE (8.4)", [frame(5, flag.endHeaders, 1, Buffer.alloc(4))], ends(protocolError)],
    ["PING on a stream (6.7)", [frame(6, 0, 1, Buffer.alloc(8))], ends(protocolError)],
    ["PING of another size (6.7)", [frame(6, 0, 0, Buffer.alloc(7))], ends(frameSizeError)],
    ["GOAWAY on a stream (6.8)", [frame(7, 0, 1, Buffer.alloc(8))], ends(protocolError)],
    ["WINDOW_UPDATE by nothing (6.9)", [frame(8, 0, 0, uint32(0))], ends(protocolError)],
    ["WINDOW_UPDATE of a stream by nothing (6.9)", [open(1), frame(8, 0, 1, uint32(0))], resets(protocolError)],
    ["WINDOW_UPDATE of another size (6.9)", [frame(8, 0, 0, Buffer.alloc(3))], ends(frameSizeError)],
    ["WINDOW_UPDATE of a stream never opened (5.1)", [frame(8, 0, 1, uint32(1))], ends(protocolError)],
    ["a window beyond 2^31-1 (6.9.1)", [frame(8, 0, 0, uint32(2 ** 31 - 1))], ends(flowControlError)],
    [
      "a stream's window beyond 2^31-1 (6.9.1)",
      [open(1), frame(8, 0, 1, uint32(2 ** 31 - 1))],
      resets(flowControlError),
    ],
    [
      "a window beyond 2^31-1 by settings (6.9.2)",
      [open(1), frame(8, 0, 1, uint32(2 ** 31 - 1 - 65_535)), setting(4, 65_536)],
      ends(flowControlError),
    ],
    [
      "a stream too many (5.1.2)",
      Array.from({ length: 101 }, (_, index) => open(2 * index + 1)),
      resets(refusedStream, 201),
    ],
    ["priorities without end", Array(11_000).fill(frame(2, 0, 1, Buffer.alloc(5))), ends(enhanceYourCalm)],
    ["empty DATA without end (CVE-2019-9518)", [open(1), ...Array(11_000).fill(data(1, ""))], ends(enhanceYourCalm)],
    [
      "streams opened and reset without end (CVE-2023-44487)",
      Array.from({ length: 3_000 }, (_, index) => [open(2 * index + 1), frame(3, 0, 2 * index + 1, uint32(8))]).flat(),
      ends(enhanceYourCalm),
    ],
  ];
  for (const [name, frames, expected] of cases) {
    it(name, () => {
      const { send, out, isFinished } = bench();
      send(...frames);
      assert.deepEqual(out(), expected);
      assert.equal(isFinished(), expected[0]?.startsWith("goaway"));
    });
    it(`${name}, byte by byte`, () => {
      const { connection, out } = bench();
      const all = Buffer.concat(frames as Uint8Array[]);
      if (all.length > 20_000) return;
      for (let at = 0; at < all.length; at += 1) connection.receive(all.subarray(at, at + 1));
      assert.deepEqual(out(), expected);
    });
  }

  it("something else than HTTP/2", () => {
    const { send, out } = bench({ handshake: false });
    send(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    assert.deepEqual(out(), ["settings", `goaway:${protocolError}`]);
  });
  it("something else than SETTINGS at first", () => {
    const { send, out } = bench({ handshake: false });
    send(preface, frame(6, 0, 0, Buffer.alloc(8)));
    assert.deepEqual(out(), ["settings", `goaway:${protocolError}`]);
  });
  it("more data than there is room for (6.9)", () => {
    const { connection, send, out } = bench();
    send(open(1));
    // What is received is given back, so that only who does not look at windows at all gets there: one stream is held at its own.
    for (let index = 0; index < 100; index += 1) connection.receive(data(1, "x".repeat(16_000)));
    assert.ok(out().every((word) => word.startsWith("window:")));
  });
});

describe("what a peer may send", () => {
  it("pings, and they are answered", () => {
    const { send, out } = bench();
    send(frame(6, 0, 0, Buffer.from("12345678")));
    assert.deepEqual(out(), ["ping"]);
  });
  it("frames and settings that nobody knows (5.5)", () => {
    const { send, out } = bench();
    send(frame(77, 0xff, 9, Buffer.alloc(100)), setting(77, 7));
    assert.deepEqual(out(), ["settings-ack"]);
  });
  it("padding, priorities and header blocks in parts", () => {
    const { send, told } = bench();
    const block = Buffer.concat([Buffer.of(3), Buffer.of(0, 0, 0, 0, 9), request.subarray(0, 10), Buffer.alloc(3)]);
    send(
      frame(1, flag.padded | flag.priority, 1, block),
      frame(9, 0, 1, request.subarray(10, 20)),
      frame(9, flag.endHeaders, 1, request.subarray(20)),
      frame(0, flag.padded | flag.endStream, 1, Buffer.from("\x04hello\0\0\0\0")),
    );
    assert.deepEqual(told, ["data:hello", "ended"]);
  });
  it("frames for a stream that was reset meanwhile", () => {
    const { streams, send, out, told } = bench();
    send(open(1));
    streams[0]?.reset(http2Error.cancel);
    assert.deepEqual(out(), ["rst:1:8"]);
    send(data(1, "late"), frame(8, 0, 1, uint32(5)), frame(1, flag.endHeaders | flag.endStream, 1, Buffer.alloc(0)));
    assert.deepEqual(out(), []);
    assert.deepEqual(told, ["closed"]);
  });
});

describe("sending", () => {
  it("keeps to the windows of stream and connection, and to the peer's frame size", () => {
    const { streams, send, out, told, sentBytes } = bench({ settings: setting(4, 20_000) });
    send(open(1));
    const [stream] = streams;
    stream?.respond(request);
    assert.equal(stream?.send(Buffer.alloc(5), Buffer.alloc(99_995)), false);
    assert.deepEqual(out(), ["headers:1", "data:1:16384", "data:1:3616"]);
    send(frame(8, 0, 1, uint32(100_000)));
    assert.equal(sentBytes(1), 65_535, "the connection's window");
    assert.deepEqual(told, []);
    send(frame(8, 0, 0, uint32(100_000)));
    assert.equal(sentBytes(1), 100_000);
    assert.deepEqual(told, ["drained"]);
  });
  it("gives each stream its turn", () => {
    const { streams, send, out } = bench();
    send(open(1), open(3));
    for (const stream of streams) stream.respond(request);
    out();
    send(setting(4, 0));
    out();
    for (const stream of streams) stream.send(Buffer.alloc(30_000));
    assert.deepEqual(out(), []);
    send(setting(4, 40_000));
    assert.deepEqual(
      out().filter((word) => word.startsWith("data")),
      ["data:1:16384", "data:3:16384", "data:1:13616", "data:3:13616"],
    );
  });
  it("waits for the socket, and writes nothing into it meanwhile", () => {
    const { streams, send, out, room } = bench();
    send(open(1));
    streams[0]?.respond(request);
    room(false);
    streams[0]?.send(Buffer.alloc(10));
    streams[0]?.send(Buffer.alloc(11));
    assert.deepEqual(out(), ["headers:1", "data:1:10"]);
    room(true);
    assert.deepEqual(out(), ["data:1:11"]);
  });
  it("sends trailers behind the data, then closes; a client that still sends is told that nobody listens", () => {
    const { streams, send, out, told } = bench({ settings: setting(4, 5) });
    send(open(1));
    streams[0]?.respond(request);
    streams[0]?.send(Buffer.alloc(10));
    streams[0]?.end(request);
    assert.deepEqual(out(), ["headers:1", "data:1:5"]);
    send(frame(8, 0, 1, uint32(5)));
    assert.deepEqual(out(), ["data:1:5", "headers:1:end", "rst:1:0"]);
    assert.deepEqual(told, ["closed"]);
  });
  it("goes away once the last stream is over, and takes no new one", () => {
    const { connection, streams, send, out, isFinished } = bench();
    send(open(1, flag.endStream));
    connection.goAway();
    send(open(3));
    assert.deepEqual(out(), ["goaway:0", "rst:3:7"]);
    assert.equal(isFinished(), false);
    streams[0]?.end(request);
    assert.deepEqual(out(), ["headers:1:end"]);
    assert.equal(isFinished(), true);
  });
});
