import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { defaultKeepalive } from "@xdskit/grpc-server";
import type { StatusCode } from "@xdskit/protocol";
import { flag, frame, frameHeadBytes, frameType } from "../../../../grpc-server/src/frames/frames.js";
import { http2Error } from "../../../../grpc-server/src/frames/http2-errors.js";
import { headOf, messageOn, type RawHttp2, rawHttp2 } from "../../../../grpc-server/src/testing/raw-http2.js";
import { defaultServerLimits, type ServerLimits } from "../../settings/limits.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { openStreams, type Running, urlOf, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";
import { createGrpcTransport } from "./grpc-transport.js";

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const fetchPath = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";
const typeUrl = urlOf("cluster");
const asked = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id: "n" }, typeUrl }));
const ids = (count: number) => Array.from({ length: count }, (_, index) => 2 * index + 1);
/** The beginning of a message of `bytes` bytes, of which `came` have arrived. */
const part = (stream: number, bytes: number, came: number) => {
  const payload = Buffer.alloc(5 + came);
  payload.writeUInt32BE(bytes, 1);
  return frame(frameType.data, 0, stream, payload);
};
const resets = ({ frames }: RawHttp2, code: number) =>
  frames.filter(({ type, payload }) => type === frameType.rstStream && payload.readUInt32BE(0) === code).length;
const trailersWith = ({ frames }: RawHttp2, text: string) =>
  frames.filter(({ type, payload }) => type === frameType.headers && payload.includes(text)).length;

/** Checks that another client is served, even if its request comes in two reads. */
async function othersAreServed({ address, server }: Running): Promise<void> {
  server.config.set([cluster("a")]);
  const good = await rawHttp2(address);
  const message = messageOn(1, asked);
  const payload = message.subarray(frameHeadBytes);
  await good.send(headOf(path, 1), frame(frameType.data, 0, 1, payload.subarray(0, 7)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await good.send(frame(frameType.data, 0, 1, payload.subarray(7)));
  await waitFor("an answer", () => good.dataOf(1).length > 0);
  good.end();
}

const refusals = ({ events }: Running) =>
  events.flatMap((event) => (event.kind === "call-refused" ? [`${event.code} ${event.message}`] : []));

describe("a greedy client", () => {
  it("a greedy client has a bounded number of streams on a connection, and is told the bound, which holds for each connection", () =>
    withServer({ limits: { streamsPerConnection: 10 } }, async (running) => {
      const client = await rawHttp2(running.address);
      await client.send(...ids(12).map((id) => headOf(path, id)));
      await waitFor("the refusals", () => resets(client, http2Error.refusedStream) === 2);
      const settings = client.frames.find(({ type }) => type === frameType.settings)?.payload ?? Buffer.alloc(0);
      const values = new Map(
        Array.from({ length: settings.length / 6 }, (_, index) => [
          settings.readUInt16BE(6 * index),
          settings.readUInt32BE(6 * index + 2),
        ]),
      );
      assert.equal(values.get(3), 10);
      assert.equal(openStreams(running.server), 10);
      await othersAreServed(running);
      const message = "10 streams are open on one connection, and none may have more (limits.streams_per_connection)";
      assert.deepEqual(refusals(running), [`8 ${message}`, `8 ${message}`]);
      assert.deepEqual(running.server.stats().refused, [{ code: 8, count: 2 }]);
      client.end();
    }));

  it("a greedy client has a bounded number of streams from an address, over all its connections, and gets them back", () =>
    withServer({ limits: { streamsPerConnection: 10, streamsPerAddress: 15 } }, async (running) => {
      const clients = await Promise.all([1, 2].map(() => rawHttp2(running.address)));
      for (const client of clients) await client.send(...ids(10).map((id) => headOf(path, id)));
      const refused = () =>
        clients.reduce((sum, client) => sum + trailersWith(client, "limits.streams_per_address"), 0);
      await waitFor("the refusals", () => refused() === 5);
      assert.equal(openStreams(running.server), 15);
      assert.equal(refusals(running).length, 5);
      for (const client of clients) client.end();
      await waitFor("no stream", () => openStreams(running.server) === 0);
      await othersAreServed(running);
    }));

  const partial: Partial<ServerLimits> = {
    requestBytes: 100_000,
    partialRequestBytes: 1_000_000,
    partialRequestBytesPerAddress: 600_000,
    partialRequestBytesPerConnection: 300_000,
  };
  it("a greedy client has a bounded number of bytes in partial requests on a connection", () =>
    withServer({ limits: partial }, async (running) => {
      const client = await rawHttp2(running.address);
      // Each has memory for its received bytes, and eight times that.
      await client.send(...ids(40).flatMap((id) => [headOf(path, id), part(id, 100_000, 2_000)]));
      await waitFor("refusals", () => trailersWith(client, "_per_connection") >= 20);
      assert.match(refusals(running)[0] ?? "", /^8 requests of this connection .* more than 300000 bytes \(limits\./);
      await othersAreServed(running);
      client.end();
    }));

  it("a greedy client has a bounded number of bytes in partial requests from an address, over all its connections", () =>
    withServer({ limits: partial }, async (running) => {
      const clients = await Promise.all([1, 2, 3, 4].map(() => rawHttp2(running.address)));
      for (const client of clients) {
        await client.send(...ids(12).flatMap((id) => [headOf(path, id), part(id, 100_000, 2_000)]));
      }
      await waitFor("refusals", () => clients.some((client) => trailersWith(client, "_per_address") > 0));
      for (const client of clients) client.end();
      await waitFor("no stream", () => openStreams(running.server) === 0);
      await othersAreServed(running);
    }));

  it("a greedy client leaves room for others, because the default limits of a connection, an address and the server grow", () => {
    const limits = defaultServerLimits;
    assert.ok(limits.streamsPerNode <= limits.streamsPerConnection);
    assert.ok(limits.streamsPerNode <= limits.streamsPerIdentity);
    assert.ok(4 * limits.streamsPerIdentity <= limits.streams);
    assert.ok(4 * limits.retainedBytesPerIdentity <= limits.retainedBytes);
    assert.ok(4 * limits.pollsPerIdentity <= limits.polls);
    assert.ok(2 * limits.streamsPerConnection <= limits.streamsPerAddress);
    assert.ok(2 * limits.streamsPerAddress <= limits.streams);
    assert.ok(2 * limits.requestBytes <= limits.partialRequestBytesPerConnection);
    assert.ok(2 * limits.partialRequestBytesPerConnection <= limits.partialRequestBytesPerAddress);
    assert.ok(2 * limits.partialRequestBytesPerAddress <= limits.partialRequestBytes);
  });
});

describe("a request that does not arrive", () => {
  /** A transport by itself, with a request timeout of 300 ms. */
  async function impatient(test: (address: string, refused: readonly string[]) => Promise<void>): Promise<void> {
    const refused: string[] = [];
    const transport = createGrpcTransport({
      types: resourceTypes,
      keepalive: defaultKeepalive,
      requestBytes: 1_000_000,
      requestTimeoutMs: 300,
      refused: (_peer: string, code: StatusCode, message: string) => void refused.push(`${code} ${message}`),
    });
    const accept = () => ({ received() {}, drained() {}, finished() {}, closed() {} });
    const address = await transport.listen("127.0.0.1:0", accept, []);
    try {
      await test(address, refused);
    } finally {
      await transport.close(100);
    }
  }
  const noRequest = "4 a stream was opened, and no request came in time";
  const noRest = "4 a request began, and its rest did not come in time";

  it("a late request ends its stream with DEADLINE_EXCEEDED, as a missing rest does, and no other stream of the connection", () =>
    impatient(async (address, refused) => {
      const client = await rawHttp2(address);
      await client.send(
        headOf(path, 1),
        headOf(path, 3),
        part(3, 1_000, 20),
        headOf(path, 5),
        messageOn(5, asked),
        // Its client may end it when it likes.
        headOf(path, 7),
        messageOn(7, asked),
        part(7, 1_000, 20),
        // A unary call is whole with its end.
        headOf(fetchPath, 9),
        messageOn(9, asked),
        headOf(fetchPath, 11),
        messageOn(11, asked, flag.endStream),
      );
      await waitFor("the ends", () => refused.length >= 4);
      assert.deepEqual([...refused].sort(), [noRest, noRest, noRequest, noRequest].sort());
      const ended = () =>
        new Set(client.frames.filter(({ type }) => type === frameType.headers).map(({ stream }) => stream));
      await waitFor("what the client is told", () => ended().size >= 4);
      assert.deepEqual([...ended()].sort(), [1, 3, 7, 9].sort());
      client.end();
    }));

  it("a late request is waited for while it comes at 64 KiB a second or faster", () =>
    impatient(async (address, refused) => {
      const client = await rawHttp2(address);
      await client.send(headOf(path, 1), headOf(path, 3), part(3, 900_000, 10));
      await client.send(part(1, 500_000, 10));
      for (let index = 0; index < 40; index++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        // A thousandth of it would do, but for the machine, which may be slow. The other goes on by a byte.
        await client.send(
          frame(frameType.data, 0, 1, Buffer.alloc(5_000)),
          frame(frameType.data, 0, 3, Buffer.alloc(1)),
        );
      }
      assert.deepEqual(refused, [noRest]);
      assert.equal(
        client.frames.some(({ type, stream }) => type === frameType.headers && stream === 1),
        false,
      );
      client.end();
    }));
});
