import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it, mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { flag, frame } from "./frames/frames.js";
import { http2Error } from "./frames/http2-errors.js";
import { createGrpcServer } from "./grpc-server.js";
import { encodeHeaders } from "./hpack/header-encoder.js";
import { defaultKeepalive } from "./sockets/keepalive.js";
import { data, http2Bench, noSettings, open, preface, request, setting, uint32 } from "./testing/http2-bench.js";

const calmed = `goaway:${http2Error.enhanceYourCalm}`;

/**
 * Sends the same again and again, each time for the next stream. Returns the number of times after which the connection
 * was ended.
 */
function repeat(times: number, make: (stream: number) => readonly Uint8Array[], before: readonly Uint8Array[] = []) {
  const bench = http2Bench();
  bench.send(...before);
  for (let index = 0; index < times; index += 1) {
    bench.send(...make(2 * index + 11));
    if (bench.isFinished()) {
      assert.equal(bench.out().at(-1), calmed);
      return index + 1;
    }
  }
  return undefined;
}

/** Ways to make the server reset a stream itself (MadeYouReset, CVE-2025-8671). */
const provocations: Readonly<Record<string, (stream: number) => readonly Uint8Array[]>> = {
  "WINDOW_UPDATE by nothing": (id) => [open(id), frame(8, 0, id, uint32(0))],
  "a window that is too large": (id) => [open(id), frame(8, 0, id, uint32(2 ** 31 - 1))],
  "DATA after END_STREAM": (id) => [open(id, flag.endStream), data(id, "x")],
  "HEADERS after END_STREAM": (id) => [open(id, flag.endStream), open(id, flag.endStream)],
  "a second head": (id) => [open(id), open(id)],
  "PRIORITY of another size": (id) => [open(id), frame(2, 0, id, Buffer.alloc(4))],
  "a malformed request": (id) => [frame(1, flag.endHeaders, id, encodeHeaders([["X", "y"]]))],
};

describe("a flood of one client", () => {
  for (const [name, make] of Object.entries(provocations)) {
    it(`a flood ends the connection if it consists of resets that the client provokes by ${name}`, () => {
      const times = repeat(3_000, make);
      assert.ok(times !== undefined && times <= 2_100, `${times}`);
    });
  }

  it("a flood ends the connection if it consists of pings", () => {
    assert.ok((repeat(11_000, () => [frame(6, 0, 0, Buffer.alloc(8))]) ?? Infinity) <= 10_001);
  });

  it("a flood ends the connection if it consists of settings (CVE-2019-9515)", () => {
    assert.ok((repeat(11_000, () => [noSettings]) ?? Infinity) <= 10_001);
  });

  it("a flood ends the connection after 64 kB of unread answers, before the budget of frames is used (CVE-2019-9512)", () => {
    const { send, room, out, isFinished } = http2Bench();
    room(false);
    let sent = 0;
    for (; !isFinished() && sent < 9_000; sent += 1) send(frame(6, 0, 0, Buffer.alloc(8)));
    assert.equal(out().at(-1), calmed);
    assert.ok(sent <= (64 * 1024) / 17 + 5, `${sent}`);
  });

  it("a flood ends the connection if tiny windows let a response dribble (CVE-2019-9511)", () => {
    const { streams, send, out, isFinished } = http2Bench({ settings: setting(4, 0) });
    send(open(1));
    streams[0]?.respond(request);
    streams[0]?.send(Buffer.alloc(1_000_000));
    let updates = 0;
    for (; !isFinished() && updates < 30_000; updates += 1) send(frame(8, 0, 1, uint32(1)));
    assert.ok(updates <= 10_010, `${updates}`);
    assert.equal(out().at(-1), calmed);
  });

  it("a flood ends the connection if header blocks grow when they are read", () => {
    const { send, out } = http2Bench();
    // One long field in the table, then 16,000 times a byte that stands for it.
    const [name, value] = [Buffer.from("x"), Buffer.alloc(4_000, 0x79)];
    const literal = Buffer.concat([Buffer.of(0x40, 1), name, Buffer.of(0x7f, 0xa1, 0x1e), value]);
    send(frame(1, flag.endHeaders | flag.endStream, 1, Buffer.concat([literal, Buffer.alloc(12_000, 0xbe)])));
    assert.deepEqual(out(), [`rst:1:${http2Error.enhanceYourCalm}`]);
    // The table's contents are known all the same: later blocks build on them.
    send(frame(1, flag.endHeaders, 3, Buffer.concat([request, Buffer.of(0xbe)])), frame(6, 0, 0, Buffer.alloc(8)));
    assert.deepEqual(out(), ["ping"]);
  });

  it("a flood is refused beyond the limit of open streams", () => {
    const { send, out, streams, connection } = http2Bench({ streams: 10 });
    for (let id = 1; id < 41; id += 2) send(open(id));
    assert.equal(out().filter((word) => word.endsWith(`:${http2Error.refusedStream}`)).length, 10);
    assert.deepEqual([streams.length, connection.streams.size], [10, 10]);
  });

  it("a flood costs one uncopied response for each stream if the window stays 0 for ever", () => {
    const { streams, send, sentBytes } = http2Bench({ settings: setting(4, 0) });
    const body = Buffer.alloc(1_000_000);
    for (let id = 1; id < 41; id += 2) send(open(id));
    const before = process.memoryUsage().arrayBuffers;
    for (const stream of streams) {
      stream.respond(request);
      assert.equal(stream.send(Buffer.alloc(5), body), false);
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < body.length);
    assert.equal(sentBytes(1), 0);
  });
});

it("healthy clients are not taken for floods: a response and its answer, 100,000 times", () => {
  const { streams, send, isFinished } = http2Bench();
  send(open(1));
  streams[0]?.respond(request);
  for (let index = 0; index < 100_000; index += 1) {
    streams[0]?.send(Buffer.alloc(10));
    send(data(1, "ok"), frame(8, 0, 1, uint32(10)), frame(8, 0, 0, uint32(10)), frame(6, 0, 0, Buffer.alloc(8)));
    assert.equal(isFinished(), false);
  }
});

describe("an idle connection", () => {
  let elapsed = 0;

  /**
   * Runs a test with a socket to a listening transport, while time stands still. The client has sent the beginning of
   * the preface, unless it is silent.
   */
  async function withSocket(test: (socket: Socket) => Promise<void>, isSilent = false): Promise<void> {
    mock.method(performance, "now", () => elapsed);
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    const keepalive = { ...defaultKeepalive, intervalMs: 1_000_000, timeoutMs: 1_000_000 };
    const server = createGrpcServer({ methods: new Map(), keepalive });
    const port = await server.listen({ host: "127.0.0.1", port: 0 });
    const [listening] = server.servers;
    assert.ok(listening);
    const accepted = once(listening, "connection");
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    socket.on("error", () => {});
    try {
      await accepted;
      if (!isSilent) {
        socket.write(preface.subarray(0, 10));
        await once(socket, "data");
      }
      await test(socket);
    } finally {
      mock.timers.reset();
      mock.restoreAll();
      socket.destroy();
      await server.close(1_000);
    }
  }

  function pass(milliseconds: number): void {
    elapsed += milliseconds;
    mock.timers.tick(milliseconds);
  }

  const goneOf = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()));

  it("an idle connection is closed if its client sends nothing for ten seconds, and gets nothing before", () =>
    withSocket(async (socket) => {
      const gone = goneOf(socket);
      socket.on("data", () => assert.fail("no frame goes out before the client's first bytes"));
      socket.on("end", () => socket.end());
      pass(10_000);
      await gone;
    }, true));

  it("an idle connection is closed if it makes no call within ten seconds", () =>
    withSocket(async (socket) => {
      const gone = goneOf(socket);
      socket.on("end", () => socket.end());
      pass(10_000);
      await gone;
    }));

  it("an idle connection is closed if it was ended and its client does not close it", () =>
    withSocket(async (socket) => {
      const ended = once(socket, "end");
      socket.resume();
      socket.write("GET / HTTP/1.1\r\n\r\n");
      await ended;
      pass(10_000);
      // The other half is open here; a write into it shows that nobody is there.
      while (!socket.closed) {
        socket.write("x");
        await setImmediate();
      }
    }));
});
