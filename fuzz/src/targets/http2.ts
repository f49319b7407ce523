import assert from "node:assert/strict";
import { connect } from "node:net";
import fc from "fast-check";
import { damaged } from "../kit/edits.js";
import type { FuzzTarget } from "../kit/target.js";
import { requestBytes } from "../requests.js";
import { openServerUnderFuzz, within } from "../server-under-fuzz.js";

/** The bytes that a client writes into one connection, and their pieces. */
interface Conversation {
  readonly bytes: Uint8Array;
  /** Lengths of the first writes; the rest comes as one. */
  readonly cuts: readonly number[];
}

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [dataType, headersType, settingsType, goAwayType] = [0, 1, 4, 7];

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Fields as they are, in no table. */
function block(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string) => [Buffer.of(value.length), Buffer.from(value, "latin1")];
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), ...text(name), ...text(value)]));
}

const heads = [
  "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
  "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
  "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters",
  "/grpc.health.v1.Health/Watch",
  "/nobody/Nothing",
].map((path): readonly (readonly [string, string])[] => [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", path],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
]);
const oddities: readonly (readonly [string, string])[] = [
  ["content-length", "7"],
  ["grpc-timeout", "1m"],
  ["grpc-encoding", "gzip"],
  ["connection", "close"],
  ["X", "y"],
  [":path", "/"],
  ["x", "y".repeat(100)],
];
const blocks = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...heads).map(block) },
  fc.tuple(fc.constantFrom(...heads), fc.constantFrom(...oddities)).map(([head, odd]) => block([...head, odd])),
  damaged(heads.map(block)),
);

function message(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 3, 5) },
  fc.constantFrom(0, 2, 7, 2 ** 31 - 1, 2 ** 31 + 1),
);
const flags = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(4, 5) },
  fc.constantFrom(0, 1, 8, 9, 12, 0x20, 0x24, 0xff),
);
const number = fc.constantFrom(0, 1, 5, 8, 100, 16_384, 65_535, 2 ** 24, 2 ** 31 - 1, 2 ** 32 - 1);
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const setting = fc.tuple(fc.constantFrom(1, 2, 3, 4, 5, 6, 77), number).map(([name, value]) => {
  return Buffer.concat([Buffer.of(0, name), uint32(value)]);
});
const dataFlags = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constantFrom(1, 8, 9));

const anyFrame: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(flags, id, blocks).map(([flag, on, bytes]) => frame(headersType, flag, on, bytes)) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(dataFlags, id, fc.oneof(requestBytes("sotw"), requestBytes("delta")))
      .map(([flag, on, bytes]) => frame(dataType, flag, on, message(bytes).subarray(0, 16_384))),
  },
  fc.tuple(flags, id, fc.uint8Array({ maxLength: 40 })).map(([flag, on, bytes]) => frame(dataType, flag, on, bytes)),
  fc.tuple(flags, id, blocks).map(([flag, on, bytes]) => frame(9, flag, on, bytes)),
  fc.array(setting, { maxLength: 4 }).map((some) => frame(settingsType, 0, 0, Buffer.concat(some))),
  fc.tuple(id, number).map(([on, by]) => frame(8, 0, on, uint32(by))),
  fc.tuple(id, number).map(([on, why]) => frame(3, 0, on, uint32(why))),
  fc.constantFrom(
    frame(6, 0, 0, Buffer.alloc(8)),
    frame(6, 1, 0, Buffer.alloc(8)),
    frame(settingsType, 1, 0, Buffer.alloc(0)),
  ),
  // Any type, on any stream, with anything in it.
  fc
    .tuple(fc.nat(12), flags, id, fc.uint8Array({ maxLength: 30 }))
    .map(([type, flag, on, bytes]) => frame(type, flag, on, bytes)),
  // The same many times.
  fc
    .tuple(fc.constantFrom(2, 6, 8, 0, 9), id, fc.integer({ min: 50, max: 3_000 }))
    .map(([type, on, times]) =>
      Buffer.concat(Array(times).fill(frame(type, 0, on, Buffer.alloc(type === 6 ? 8 : 4, 1)))),
    ),
);

const opening = Buffer.concat([preface, frame(settingsType, 0, 0, Buffer.alloc(0))]);
const sound = fc
  .array(anyFrame, { maxLength: 15 })
  .map((frames) => Buffer.concat([opening, ...frames]).subarray(0, 256 * 1024));
const whole = Buffer.concat([
  opening,
  frame(headersType, 4, 1, block(heads[1] ?? [])),
  frame(dataType, 0, 1, message(Buffer.from("0a030a01781a0b787878", "hex"))),
  frame(8, 0, 0, uint32(100)),
  frame(6, 0, 0, Buffer.alloc(8)),
  frame(dataType, 1, 1, Buffer.alloc(0)),
]);
const conversation: fc.Arbitrary<Conversation> = fc.record({
  bytes: fc.oneof({ weight: 4, arbitrary: sound }, damaged([whole]), fc.uint8Array({ maxLength: 200 })),
  cuts: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }),
});

export const http2: FuzzTarget = {
  name: "http2",
  suiteRuns: 50,
  async open() {
    const under = await openServerUnderFuzz();
    const { grpc } = await under.server.listen({ grpc: "127.0.0.1:0" });
    const property = fc.asyncProperty(fc.array(conversation, { minLength: 1, maxLength: 3 }), async (some) => {
      const answers = await Promise.all(some.map((one) => hold(grpc, one)));
      await under.assertHealthy();
      await under.assertNothingLeft();
      for (const answer of answers) assertFrames(answer);
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: () => under.assertNothingLeft(),
      close: () => under.close(),
      show: (input) => fc.stringify(input),
    };
  },
};

/** Writes all of it, closes, and returns the answer. */
async function hold(address: string, { bytes, cuts }: Conversation): Promise<Buffer> {
  const [host, port] = address.split(":");
  const socket = connect({ host: host ?? "", port: Number(port), noDelay: true });
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  // The server may end it while this end still writes.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let at = 0;
  for (const length of cuts) {
    socket.write(bytes.subarray(at, at + length));
    at += length;
    await new Promise(setImmediate);
  }
  socket.end(bytes.subarray(at));
  await within("the end of a connection", closed);
  return Buffer.concat(parts);
}

/**
 * The server's answer is HTTP/2 whatever it was told, ends with GOAWAY if it ends for an error, and is not more than
 * what was asked for.
 */
function assertFrames(answer: Buffer): void {
  assert.ok(answer.length < 2 * 1024 * 1024, `${answer.length} bytes came back`);
  let isOver = false;
  let at = 0;
  while (answer.length - at >= 9) {
    const [length, type] = [answer.readUIntBE(at, 3), answer[at + 3] ?? 0];
    assert.ok(at > 0 || type === settingsType, "the first frame is SETTINGS");
    assert.ok([0, 1, 3, 4, 6, 7, 8, 9].includes(type), `a frame of type ${type}`);
    assert.equal(isOver, false, "a frame behind GOAWAY with an error");
    isOver = type === goAwayType && answer.readUInt32BE(at + 13) !== 0;
    at += 9 + length;
  }
  assert.ok(!isOver || at === answer.length, "half a GOAWAY, or something behind it");
}
