import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { flag, frame } from "../frames/frames.js";
import { http2Error } from "../frames/http2-errors.js";
import { data, http2Bench, noSettings, open, preface, request, setting, uint32 } from "../testing/http2-bench.js";

describe("the first frames of a server (3.4)", () => {
  it("nothing goes out before the client's first bytes, and then one write with the answer to its settings", () => {
    const { send, out, writes } = http2Bench({ handshake: false });
    assert.deepEqual(out(), []);
    send(preface, noSettings);
    assert.deepEqual([out(), writes()], [["settings", "window:0", "settings-ack"], 1]);
  });
  it("they come before a ping and before GOAWAY, and only once", () => {
    const { connection, send, out } = http2Bench({ handshake: false });
    connection.ping();
    assert.deepEqual(out(), ["settings", "window:0", "ping"]);
    connection.goAway();
    assert.deepEqual(out(), ["goaway:0"]);
    const other = http2Bench({ handshake: false });
    other.connection.goAway();
    assert.deepEqual(other.out(), ["settings", "window:0", "goaway:0"]);
    send(preface, noSettings);
    assert.deepEqual(out(), []);
    const third = http2Bench({ handshake: false });
    third.connection.ping();
    third.out();
    third.send(preface, noSettings);
    assert.deepEqual(third.out(), ["settings-ack"]);
  });
});

describe("the receiving side of a connection", () => {
  it("pings are answered", () => {
    const { send, out } = http2Bench();
    send(frame(6, 0, 0, Buffer.from("12345678")));
    assert.deepEqual(out(), ["ping"]);
  });
  it("a silent peer is pinged once, and not if it sent something meanwhile", () => {
    const { connection, send, out } = http2Bench();
    connection.ping();
    assert.deepEqual([out(), connection.pings], [[], 0]);
    connection.ping();
    assert.deepEqual([out(), connection.pings], [["ping"], 1]);
    send(frame(6, flag.ack, 0, Buffer.alloc(8)));
    assert.equal(connection.pings, 0);
    connection.ping();
    assert.deepEqual(out(), []);
  });
  it("unknown frames and settings are skipped (5.5)", () => {
    const { send, out } = http2Bench();
    send(frame(77, 0xff, 9, Buffer.alloc(100)), setting(77, 7));
    assert.deepEqual(out(), ["settings-ack"]);
  });
  it("padding, priorities and header blocks in parts are read", () => {
    const { send, told } = http2Bench();
    const block = Buffer.concat([Buffer.of(3), Buffer.of(0, 0, 0, 0, 9), request.subarray(0, 10), Buffer.alloc(3)]);
    send(
      frame(1, flag.padded | flag.priority, 1, block),
      frame(9, 0, 1, request.subarray(10, 20)),
      frame(9, flag.endHeaders, 1, request.subarray(20)),
      frame(0, flag.padded | flag.endStream, 1, Buffer.from("\x04hello\0\0\0\0")),
    );
    assert.deepEqual(told, ["data:hello", "ended"]);
  });
  it("content for several streams is read in turns, in whole frames or not", () => {
    const { connection, send, told } = http2Bench();
    send(open(1), open(3));
    const frames = [data(1, "a"), data(3, "b"), data(3, "c"), data(1, "d"), data(3, "e", flag.endStream), data(1, "f")];
    for (const bytes of frames) connection.receive(bytes);
    connection.receive(data(1, "ghi").subarray(0, 10));
    connection.receive(data(1, "ghi").subarray(10));
    connection.receive(data(1, "j"));
    const words = [..."abcde"].map((letter) => `data:${letter}`);
    assert.deepEqual(told, [...words, "ended", "data:f", "data:ghi", "data:j"]);
  });
  it("the claims of a fleet that comes back are read without a wait for window updates", () => {
    const { send, out } = http2Bench();
    send(open(1));
    for (let part = 0; part < 8; part++) send(data(1, "x".repeat(16_000)));
    assert.deepEqual(out(), []);
    // Half of it was used: the other half is free.
    send(data(1, "x".repeat(4_000)));
    assert.deepEqual(out(), ["window:0", "window:1"]);
  });
  it("frames for a stream that was just reset do no harm", () => {
    const { streams, send, out, told } = http2Bench();
    send(open(1));
    streams[0]?.reset(http2Error.cancel);
    assert.deepEqual(out(), ["rst:1:8"]);
    send(data(1, "late"), frame(8, 0, 1, uint32(5)), frame(1, flag.endHeaders | flag.endStream, 1, Buffer.alloc(0)));
    assert.deepEqual(out(), []);
    assert.deepEqual(told, ["closed"]);
  });
});

describe("the sending side of a connection", () => {
  it("a connection keeps to the windows of stream and connection, and to the peer's frame size", () => {
    const { streams, send, out, told, sentBytes } = http2Bench({ settings: setting(4, 20_000) });
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
  it("the first part is copied, since it may change a moment later, and no other part is", () => {
    for (const window of [0, 10, 100_000]) {
      for (const size of [0, 10, 5_000]) {
        const { streams, send, outBytes } = http2Bench({ settings: setting(4, window) });
        send(open(1));
        const prefix = Buffer.from("first");
        streams[0]?.send(prefix, Buffer.alloc(size, "b"), Buffer.from("tail"));
        prefix.fill("!");
        send(frame(8, 0, 1, uint32(100_000)));
        assert.equal(outBytes(1), `first${"b".repeat(size)}tail`);
      }
    }
  });
  it("each stream gets its turn to send", () => {
    const { streams, send, out } = http2Bench();
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
  it("messages of several streams in one callback of the event loop are one write, and large content is written at once", async () => {
    const { streams, send, out, room, writes } = http2Bench({ settings: setting(4, 10_000_000) });
    send(open(1), open(3), frame(8, 0, 0, uint32(10_000_000)));
    for (const stream of streams) stream.respond(request);
    out();
    writes();
    for (const stream of streams) assert.equal(stream.send(Buffer.alloc(10)), true);
    assert.deepEqual([writes(), out()], [0, []]);
    await Promise.resolve();
    assert.deepEqual([writes(), out()], [1, ["headers:1", "headers:3", "data:1:10", "data:3:10"]]);
    // Nothing more is taken once the socket said that it is full.
    room(false);
    for (const stream of streams) assert.equal(stream.send(Buffer.alloc(10)), true);
    await Promise.resolve();
    assert.equal(streams[0]?.send(Buffer.alloc(10)), false);
    assert.deepEqual([writes(), out()], [1, ["data:1:10", "data:3:10"]]);
    room(true);
    assert.deepEqual([writes(), out()], [1, ["data:1:10"]]);
    streams[0]?.send(Buffer.alloc(5), Buffer.alloc(500_000));
    assert.equal(writes(), 1);
  });
  it("a connection waits for the socket, and writes nothing into it meanwhile", () => {
    const { streams, send, out, room } = http2Bench();
    send(open(1));
    streams[0]?.respond(request);
    room(false);
    streams[0]?.send(Buffer.alloc(10));
    streams[0]?.send(Buffer.alloc(11));
    assert.deepEqual(out(), ["headers:1", "data:1:10"]);
    room(true);
    assert.deepEqual(out(), ["data:1:11"]);
  });
  it("a stream sends its trailers behind the data and closes, and a client that still sends is told that nobody listens", () => {
    const { streams, send, out, told } = http2Bench({ settings: setting(4, 5) });
    send(open(1));
    streams[0]?.respond(request);
    streams[0]?.send(Buffer.alloc(10));
    streams[0]?.end(request);
    assert.deepEqual(out(), ["headers:1", "data:1:5"]);
    send(frame(8, 0, 1, uint32(5)));
    assert.deepEqual(out(), ["data:1:5", "headers:1:end", "rst:1:0"]);
    assert.deepEqual(told, ["closed"]);
  });
  it("a connection that goes away ends with its last stream, and takes no new one", () => {
    const { connection, streams, send, out, isFinished } = http2Bench();
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
