import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, isMessage } from "@bufbuild/protobuf";
import { type ResourceType, type ResourceTypes, resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createServer } from "./create-server.js";
import { grpcClient } from "./testing/raw-client.js";
import { within } from "./testing/wait-for.js";
import { delta, sotw } from "./testing/xds-client.js";

/** A type of one's own: a directory of nodes, by id, with a service. */
const directory: ResourceType = {
  name: "node",
  abbreviation: "nds",
  typeUrl: "type.googleapis.com/envoy.config.core.v3.Node",
  v2TypeUrl: undefined,
  services: {
    v2: undefined,
    v3: { service: "example.NodeDirectory", stream: "StreamNodes", delta: "DeltaNodes", fetch: undefined },
  },
  restPath: undefined,
  schema: NodeSchema,
  nameOf: (message) => (isMessage(message, NodeSchema) ? message.id : undefined),
  emptyFirstRequest: "wildcard",
  fullState: true,
  deliveryOrder: 1_000,
  absence: "removed",
  askedAgainAfter: [],
  warmedBy: [],
  references: () => [],
};

const all = [...resourceTypes.all, directory];
const types: ResourceTypes = {
  all,
  byTypeUrl: (url) => (url === directory.typeUrl ? { type: directory, api: "v3" } : resourceTypes.byTypeUrl(url)),
  find: (name) => (["node", "nds", directory.typeUrl].includes(name) ? directory : resourceTypes.find(name)),
  [Symbol.iterator]: () => all.values(),
};

describe("types of one's own", () => {
  it("are served over ADS and by services of their own", async () => {
    const server = createServer({ types });
    server.config.set([create(NodeSchema, { id: "a" }), create(NodeSchema, { id: "b" })]);
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const client = grpcClient(types, grpc);
    const node = { id: "n1" };
    const method = { variant: "delta", api: "v3", only: undefined, unary: false } as const;
    const aggregated = delta(client.open(method));
    aggregated.send({ node, typeUrl: directory.typeUrl, resourceNamesSubscribe: ["b"] });
    assert.deepEqual(
      (await aggregated.next()).resources.map(({ name }) => name),
      ["b"],
    );
    const own = sotw(client.open({ ...method, variant: "sotw", only: directory }));
    own.send({ node });
    assert.equal((await own.next()).resources.length, 2);
    server.config.remove({ type: "nds", name: "b" });
    assert.deepEqual((await aggregated.next()).removedResources, ["b"]);
    assert.equal((await own.next()).resources.length, 1);
    client.close();
    await server.close();
  });

  it("leave the methods that they do not have unimplemented", async () => {
    const server = createServer();
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const client = grpcClient(types, grpc);
    const raw = client.open({ variant: "sotw", api: "v3", only: directory, unary: false });
    raw.send(new Uint8Array());
    assert.equal((await within("the end", raw.status)).code, 12);
    client.close();
    await server.close();
  });
});
