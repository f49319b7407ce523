import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createServer } from "../create-server.js";
import { within } from "../testing/basics/wait-for.js";
import { grpcClient } from "../testing/clients/raw-client.js";
import { delta, sotw } from "../testing/clients/xds-client.js";

/** A type of one's own: a directory of nodes, by id, with a service. */
const types = createResourceTypes([
  {
    schema: NodeSchema,
    name: "node",
    abbreviation: "nds",
    nameOf: "id",
    service: { name: "example.NodeDirectory", stream: "StreamNodes", delta: "DeltaNodes" },
    wildcard: true,
  },
]);
const directory = types.find("node");
assert.ok(directory);
const { typeUrl } = directory;
const node = { id: "n1" };
const method = { api: "v3", unary: false } as const;

describe("types of one's own", () => {
  it("are served over ADS and by services of their own, SotW and delta", async () => {
    const server = createServer({ types });
    server.config.set([create(NodeSchema, { id: "a" }), create(NodeSchema, { id: "b" })]);
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const client = grpcClient(types, grpc);
    try {
      for (const only of [undefined, directory]) {
        const incremental = delta(client.open({ ...method, variant: "delta", only }));
        incremental.send({ node, typeUrl, resourceNamesSubscribe: ["b"] });
        const first = await incremental.next();
        assert.deepEqual(
          first.resources.map(({ name }) => name),
          ["b"],
        );
        const whole = sotw(client.open({ ...method, variant: "sotw", only }));
        whole.send({ node, typeUrl });
        assert.equal((await whole.next()).resources.length, 2);
        server.config.remove({ type: "nds", name: "b" });
        assert.deepEqual((await incremental.next()).removedResources, ["b"]);
        assert.equal((await whole.next()).resources.length, 1);
        server.config.update({ upsert: [create(NodeSchema, { id: "b" })] });
        assert.equal((await incremental.next()).resources.length, 1);
        assert.equal((await whole.next()).resources.length, 2);
      }
    } finally {
      client.close();
      await server.close();
    }
  });

  it("leave the methods that they do not have unimplemented", async () => {
    const server = createServer();
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const client = grpcClient(types, grpc);
    const raw = client.open({ ...method, variant: "sotw", only: directory });
    raw.send(new Uint8Array());
    assert.equal((await within("the end", raw.status)).code, 12);
    client.close();
    await server.close();
  });
});
