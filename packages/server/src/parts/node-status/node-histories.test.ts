import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createServer } from "../../create-server.js";
import { createMemoryTransport } from "../../transports/memory/memory-transport.js";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;

async function scene() {
  const server = createServer();
  const transport = createMemoryTransport();
  await server.listenOn(transport, "here");
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    server,
    /** A client that answers each response with an ACK or a NACK. */
    async client(id: string, answer: "ack" | "nack") {
      const responses: DiscoveryResponse[] = [];
      const send = (request: MessageInitShape<typeof DiscoveryRequestSchema>) =>
        stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { typeUrl, ...request })));
      const stream = transport.open("here", ads, (bytes) => {
        const { nonce: responseNonce, versionInfo } = fromBinary(DiscoveryResponseSchema, bytes);
        responses.push(fromBinary(DiscoveryResponseSchema, bytes));
        const refusal = answer === "nack" ? { errorDetail: { code: 3, message: "no" } } : { versionInfo };
        setImmediate(() => send({ responseNonce, ...refusal }));
      });
      send({ node: { id } });
      for (let turns = 0; turns < 100 && responses.length === 0; turns += 1) await turn();
      for (let turns = 0; turns < 10; turns += 1) await turn();
      return stream;
    },
    settled: async () => {
      for (let turns = 0; turns < 20; turns += 1) await turn();
    },
    kinds: (id: string) => server.nodeHistory(id).map(({ kind }) => kind),
  };
}

describe("the history of a node", () => {
  it("the history lists connects, responses, ACKs, NACKs and disconnects, newest first", async () => {
    const { server, client, settled, kinds } = await scene();
    server.config.set([create(ClusterSchema, { name: "a" })]);
    const good = await client("good", "ack");
    assert.deepEqual(kinds("good"), ["acknowledged", "sent", "connected"]);
    const [, sent] = server.nodeHistory("good");
    assert.ok(sent?.kind === "sent" && sent.resources === 1 && sent.type === "cluster");
    const bad = await client("bad", "nack");
    assert.deepEqual(kinds("bad"), ["rejected", "sent", "connected"]);
    good.cancel();
    bad.cancel();
    await settled();
    assert.deepEqual(kinds("good"), ["disconnected", "acknowledged", "sent", "connected"]);
    const again = await client("good", "ack");
    assert.equal(kinds("good").filter((kind) => kind === "connected").length, 2);
    again.cancel();
    await server.close();
  });

  it("the history is bounded for each node, and for nodes that have gone", async () => {
    const { server, client, settled, kinds } = await scene();
    server.config.set([create(ClusterSchema, { name: "a" })]);
    const first = await client("first", "ack");
    for (let change = 0; change < 40; change += 1) {
      server.config.set([create(ClusterSchema, { name: `a${change}` })]);
      await settled();
    }
    assert.equal(kinds("first").length, 40);
    first.cancel();
    await settled();
    assert.equal(kinds("first")[0], "disconnected");
    for (let node = 0; node < 1_001; node += 1) (await client(`n${node}`, "ack")).cancel();
    await settled();
    assert.deepEqual(kinds("first"), []);
    assert.equal(kinds("n1000")[0], "disconnected");
    await server.close();
  });
});
