import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { frame } from "../frames/frames.js";
import { http2Error } from "../frames/http2-errors.js";
import { http2Bench, open, request, setting, uint32 } from "../testing/http2-bench.js";

const initialWindow = (bytes: number) => setting(4, bytes);
const update = (stream: number, bytes: number) => frame(8, 0, stream, uint32(bytes));
const largest = 2 ** 31 - 1;
const ids = (count: number) => Array.from({ length: count }, (_, index) => 2 * index + 1);
const cpuMs = (since?: NodeJS.CpuUsage) => process.cpuUsage(since).user / 1_000;

/** A connection with this many streams that have nothing to send. */
function withStreams(count: number) {
  const bench = http2Bench({ streams: count + 1 });
  bench.send(...ids(count).map((id) => open(id)));
  return bench;
}

describe("a changed initial window", () => {
  it("a changed window costs the same with one stream and with 50,000 silent ones", () => {
    const { send, isFinished } = withStreams(50_000);
    const settings = Array.from({ length: 9_000 }, (_, index) => initialWindow(1_000 + (index % 2)));
    const before = process.cpuUsage();
    send(...settings);
    // Visiting all of them takes 3 s, and ten if each is another object.
    assert.ok(cpuMs(before) < 1_000, `${cpuMs(before)} ms`);
    assert.equal(isFinished(), false);
  });

  it("a connection ends if its client causes many visits of its waiting streams", () => {
    const { streams, send, out } = withStreams(20_000);
    send(initialWindow(0));
    for (const stream of streams) {
      stream.respond(request);
      stream.send(Buffer.alloc(5_000));
    }
    out();
    let times = 0;
    const before = process.cpuUsage();
    for (; times < 2_000 && !out().includes(`goaway:${http2Error.enhanceYourCalm}`); times++) {
      // The streams whose turn comes while the window is closed wait for it again.
      send(initialWindow(1), initialWindow(0), update(0, 1));
    }
    assert.ok(times < 100, `${times}`);
    assert.ok(cpuMs(before) < 3_000, `${cpuMs(before)} ms`);
  });

  it("a changed window concerns streams that opened before and after it alike (6.9.2)", async () => {
    const { streams, send, sentBytes } = http2Bench({ settings: initialWindow(1_000) });
    send(open(1), update(1, 500));
    send(initialWindow(2_000), open(3));
    for (const stream of streams) {
      stream.respond(request);
      stream.send(Buffer.alloc(10_000));
    }
    await Promise.resolve();
    assert.deepEqual([sentBytes(1), sentBytes(3)], [2_500, 2_000]);
    send(initialWindow(1_500));
    send(update(1, 400), update(3, 400));
    assert.deepEqual([sentBytes(1), sentBytes(3)], [2_500, 2_000], "both windows are below nothing");
    send(initialWindow(1_700));
    assert.deepEqual([sentBytes(1), sentBytes(3)], [2_600, 2_100]);
  });

  it("a window larger than 2^31-1 is an error of the connection (6.9.2)", () => {
    const { send, out } = http2Bench();
    send(initialWindow(1_000), open(1), open(3), update(3, 101));
    out();
    send(initialWindow(largest - 101));
    assert.deepEqual(out(), ["settings-ack"]);
    send(initialWindow(largest - 100));
    assert.deepEqual(out(), [`goaway:${http2Error.flowControlError}`]);
  });

  it("a larger window is no error if the stream with the largest window is gone, or used it", async () => {
    const { streams, send, out, isFinished } = http2Bench();
    send(open(1), open(3), update(1, 1_000), update(3, 1_000));
    streams[0]?.reset(http2Error.cancel);
    streams[1]?.respond(request);
    streams[1]?.send(Buffer.alloc(1_000));
    await Promise.resolve();
    out();
    send(initialWindow(largest));
    assert.deepEqual([out(), isFinished()], [["settings-ack"], false]);
    send(update(3, 1));
    assert.deepEqual(out(), [`rst:3:${http2Error.flowControlError}`]);
  });

  it("a connection ends if its client causes many comparisons with the largest window", () => {
    const { send, out, isFinished } = withStreams(20_000);
    let times = 0;
    for (let id = 40_001; times < 2_000 && !isFinished(); times++, id += 2) {
      send(initialWindow(1_000), open(id), update(id, 1_000), frame(3, 0, id, uint32(8)), initialWindow(largest));
    }
    assert.ok(times < 200, `${times}`);
    assert.equal(out().at(-1), `goaway:${http2Error.enhanceYourCalm}`);
  });

  it("a fleet that asked for much is served when its client enlarges its windows, as gRPC's clients do", () => {
    const { streams, send, isFinished, sentBytes } = withStreams(20_000);
    send(initialWindow(0));
    for (const stream of streams) {
      stream.respond(request);
      stream.send(Buffer.alloc(100));
    }
    send(update(0, 10_000_000));
    for (let bytes = 1; bytes <= 1_024; bytes *= 2) send(initialWindow(bytes));
    assert.equal(isFinished(), false);
    assert.equal(sentBytes(1), 100);
    assert.equal(sentBytes(39_999), 100);
  });
});
