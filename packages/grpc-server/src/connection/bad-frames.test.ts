import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { flag, frame } from "../frames/frames.js";
import { http2Error } from "../frames/http2-errors.js";
import { encodeHeaders } from "../hpack/header-encoder.js";
import {
  data,
  fields,
  http2Bench,
  lend,
  open,
  preface,
  proper,
  request,
  setting,
  uint32,
  type Word,
} from "../testing/http2-bench.js";

describe("a forbidden frame", () => {
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
    ["HEADERS of more than 16,384 bytes (4.2)", [raw(16_385, 1, flag.endHeaders, 1)], ends(frameSizeError)],
    [
      "an unknown frame within a header block (5.5)",
      [frame(1, 0, 1, request), frame(77, 0, 0, Buffer.alloc(0))],
      ends(protocolError),
    ],
    [
      "PRIORITY within a header block (4.3)",
      [frame(1, 0, 1, request), frame(2, 0, 1, Buffer.alloc(5))],
      ends(protocolError),
    ],
    ["HEADERS of another stream within a header block (4.3)", [frame(1, 0, 1, request), open(3)], ends(protocolError)],
    [
      "CONTINUATION on a stream that was never opened (5.1)",
      [frame(9, flag.endHeaders, 5, request)],
      ends(protocolError),
    ],
    [
      "CONTINUATION after END_STREAM (5.1)",
      [open(1, flag.endStream), frame(9, flag.endHeaders, 1, request)],
      ends(protocolError),
    ],
    [
      "CONTINUATION behind a block that is whole, and data (6.10)",
      [open(1), data(1, "x"), frame(9, flag.endHeaders, 1, request)],
      ends(protocolError),
    ],
    [
      "CONTINUATION without a stream (6.10)",
      [frame(1, 0, 1, request), frame(9, flag.endHeaders, 0, request)],
      ends(protocolError),
    ],
    ["DATA after RST_STREAM (5.1)", [open(1), frame(3, 0, 1, uint32(8)), data(1, "x")], resets(streamClosed)],
    ["HEADERS after RST_STREAM (5.1)", [open(1), frame(3, 0, 1, uint32(8)), open(1)], ends(streamClosed)],
    ["GOAWAY of less than 8 bytes (6.8)", [frame(7, 0, 0, Buffer.alloc(7))], ends(frameSizeError)],
    ["RST_STREAM of 5 bytes (6.4)", [open(1), frame(3, 0, 1, Buffer.alloc(5))], ends(frameSizeError)],
    ["an answer to PING on a stream (6.7)", [frame(6, flag.ack, 1, Buffer.alloc(8))], ends(protocolError)],
    [
      "two updates that make a window too large (6.9.1)",
      [frame(8, 0, 0, uint32(2 ** 30)), frame(8, 0, 0, uint32(2 ** 30))],
      ends(flowControlError),
    ],
    [
      "less content than content-length says (8.1.1)",
      [fields(...proper, ["content-length", "5"]), data(1, "four", flag.endStream)],
      resets(protocolError),
    ],
    [
      "more content than content-length says (8.1.1)",
      [fields(...proper, ["content-length", "5"]), data(1, "fi"), data(1, "ve+1")],
      resets(protocolError),
    ],
    [
      "no content, and a content-length (8.1.1)",
      [frame(1, flag.endHeaders | flag.endStream, 1, encodeHeaders([...proper, ["content-length", "1"]]))],
      resets(protocolError),
    ],
    ["a content-length that is none", [fields(...proper, ["content-length", "+5"])], resets(protocolError)],
    ["no method (8.3.1)", [fields([":path", "/"], [":scheme", "http"])], resets(protocolError)],
    ["no scheme (8.3.1)", [fields([":path", "/"], [":method", "POST"])], resets(protocolError)],
    ["a method twice (8.3.1)", [fields(...proper, [":method", "POST"])], resets(protocolError)],
    [
      "a protocol, which nobody offered (RFC 8441, 4)",
      [fields(...proper, [":protocol", "websocket"])],
      resets(protocolError),
    ],
    ["a pseudo-field without a name (8.3)", [fields(...proper, [":", "x"])], resets(protocolError)],
    ["a field without a name (8.2.1)", [fields(...proper, ["", "x"])], resets(protocolError)],
    ["NUL in a value (8.2.1)", [fields(...proper, ["x", "a\0b"])], resets(protocolError)],
    ["a space before a value (8.2.1)", [fields(...proper, ["x", " b"])], resets(protocolError)],
    [
      "an upper-case field in trailers (8.2.1)",
      [open(1), frame(1, flag.endHeaders | flag.endStream, 1, encodeHeaders([["X", "y"]]))],
      resets(protocolError),
    ],
    ["transfer-encoding (8.2.2)", [fields(...proper, ["transfer-encoding", "chunked"])], resets(protocolError)],
    ["field 0 of the table (RFC 7541, 6.1)", [frame(1, flag.endHeaders, 1, Buffer.of(0x80))], ends(compressionError)],
    [
      "a table that changes its size behind a field (RFC 7541, 4.2)",
      [frame(1, flag.endHeaders, 1, Buffer.concat([request, Buffer.of(0x20)]))],
      ends(compressionError),
    ],
    [
      "a table that is larger than allowed (RFC 7541, 6.3)",
      [frame(1, flag.endHeaders, 1, Buffer.of(0x3f, 0xe2, 0x1f))],
      ends(compressionError),
    ],
    [
      "Huffman's code with 8 bits of padding (RFC 7541, 5.2)",
      [frame(1, flag.endHeaders, 1, Buffer.of(0x00, 0x81, 0xff, 0x01, 0x61))],
      ends(compressionError),
    ],
    [
      "Huffman's code padded by zeros (RFC 7541, 5.2)",
      [frame(1, flag.endHeaders, 1, Buffer.of(0x00, 0x81, 0x18, 0x01, 0x61))],
      ends(compressionError),
    ],
    [
      "Huffman's end of string (RFC 7541, 5.2)",
      [frame(1, flag.endHeaders, 1, Buffer.of(0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 0x61))],
      ends(compressionError),
    ],
    [
      "a string that is longer than its block",
      [frame(1, flag.endHeaders, 1, Buffer.of(0x00, 0x05, 0x61))],
      ends(compressionError),
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
      const { send, out, isFinished } = http2Bench();
      send(...frames);
      assert.deepEqual(out(), expected);
      assert.equal(isFinished(), expected[0]?.startsWith("goaway"));
    });
    it(`a forbidden frame ends the connection for ${name}, each frame by itself`, () => {
      const { connection, out } = http2Bench();
      for (const bytes of frames) connection.receive(bytes as Buffer);
      assert.deepEqual(out(), expected);
    });
    it(`a forbidden frame ends the connection for ${name}, byte by byte`, () => {
      const { connection, out } = http2Bench();
      const all = Buffer.concat(frames as Uint8Array[]);
      if (all.length > 20_000) return;
      for (let at = 0; at < all.length; at += 1) lend(connection, all.subarray(at, at + 1));
      assert.deepEqual(out(), expected);
    });
  }

  it("a connection that does not begin with HTTP/2 is ended", () => {
    const { send, out } = http2Bench({ handshake: false });
    send(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    assert.deepEqual(out(), ["settings", "window:0", `goaway:${protocolError}`]);
  });
  it("a connection is ended if its first frame is not SETTINGS", () => {
    const { send, out } = http2Bench({ handshake: false });
    send(preface, frame(6, 0, 0, Buffer.alloc(8)));
    assert.deepEqual(out(), ["settings", "window:0", `goaway:${protocolError}`]);
  });
  it("a connection is ended if data exceeds the window (6.9)", () => {
    const { connection, send, out } = http2Bench();
    send(open(1));
    // The window grows again with the received bytes, so only a client that ignores windows gets here.
    for (let index = 0; index < 100; index += 1) connection.receive(data(1, "x".repeat(16_000)));
    assert.ok(out().every((word) => word.startsWith("window:")));
  });
});
