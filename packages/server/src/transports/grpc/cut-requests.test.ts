import assert from "node:assert/strict";
import { it } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { flag, frame, frameHeadBytes, frameType } from "../../../../grpc-server/src/frames/frames.js";
import { encodeHeaders } from "../../../../grpc-server/src/hpack/header-encoder.js";
import { headBlock, messageOn, type RawHttp2, rawHttp2 } from "../../../../grpc-server/src/testing/raw-http2.js";
import { createServer } from "../../create-server.js";
import { randomFrom } from "../../testing/basics/random.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { urlOf } from "../../testing/running-server.js";

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** The bytes of one client: its head and its own names in frames of a few bytes, and a ping behind them. */
function answeredBy(client: number, names: readonly string[]): Buffer {
  const block = Buffer.concat([headBlock(path), encodeHeaders([["x-client", `${client}`.repeat(1 + 3 * client)]])]);
  const typeUrl = urlOf("endpoint");
  const request = create(DeltaDiscoveryRequestSchema, {
    node: { id: `node-${client}` },
    typeUrl,
    resourceNamesSubscribe: [...names],
  });
  // Without its frame: here the frames hold parts of it.
  const message = messageOn(1, toBinary(DeltaDiscoveryRequestSchema, request)).subarray(frameHeadBytes);
  const heads = cut(block, 6).map((part, index) => {
    const flags = 6 * index + part.length === block.length ? flag.endHeaders : 0;
    return frame(index === 0 ? frameType.headers : frameType.continuation, flags, 1, part);
  });
  return Buffer.concat([
    ...heads,
    ...cut(message, 30).map((part) => frame(frameType.data, 0, 1, part)),
    frame(frameType.ping, 0, 0, pingOf(client)),
  ]);
}

const cut = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(size * index, size * (index + 1)),
  );

const pingOf = (client: number) => Buffer.alloc(8, client + 1);

/** The names that do not exist according to the received part of a client's answer. */
function removedFor({ dataOf }: RawHttp2): readonly string[] {
  const bytes = dataOf(1);
  if (bytes.length < 5 || bytes.length < 5 + bytes.readUInt32BE(1)) return [];
  return fromBinary(DeltaDiscoveryResponseSchema, bytes.subarray(5, 5 + bytes.readUInt32BE(1))).removedResources;
}

it("requests that are cut anywhere and mixed with others are read as if each client was alone", async () => {
  const random = randomFrom(5);
  const server = createServer({});
  server.config.set([]);
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const clients: { readonly raw: RawHttp2; readonly names: readonly string[]; left: Buffer }[] = [];
  try {
    for (let index = 0; index < 8; index++) {
      const names = Array.from({ length: 1 + random(400) }, (_, name) => `${index}-${name}-${"x".repeat(random(30))}`);
      clients.push({ raw: await rawHttp2(grpc), names, left: answeredBy(index, names) });
    }
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const client of clients) {
        const size = Math.min(client.left.length, 1 + random([4, 40, 400][random(3)] as number));
        if (size === 0) continue;
        isMore = true;
        await client.raw.send(client.left.subarray(0, size));
        client.left = client.left.subarray(size);
      }
      // The server reads the received parts, one client after the other.
      await new Promise(setImmediate);
    }
    for (const [index, { raw, names }] of clients.entries()) {
      await waitFor("the answer", () => raw.isClosed || removedFor(raw).length > 0);
      assert.deepEqual(new Set(removedFor(raw)), new Set(names));
      await waitFor("the ping", () => raw.frames.some(({ type }) => type === frameType.ping));
      assert.deepEqual(raw.frames.find(({ type }) => type === frameType.ping)?.payload, pingOf(index));
    }
  } finally {
    for (const { raw } of clients) raw.end();
    await server.close({ timeoutMs: 500 });
  }
});
