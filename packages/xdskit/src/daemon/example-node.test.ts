import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createClient } from "@xdskit/client";
import { createServer, type NodeMatch } from "@xdskit/server";
import { main } from "../main.js";
import { cluster } from "../testing/odd-responses.js";
import { exampleNode } from "./example-node.js";

const flagsFor = (match: NodeMatch) =>
  exampleNode([
    { name: "edge", match },
    { name: "rest", match: {} },
  ]).flags;

test("the node of a start banner belongs to the first group, and is the usual one if every node does", () => {
  assert.deepEqual(exampleNode(undefined), { group: undefined, flags: "" });
  assert.deepEqual(exampleNode([{ name: "all", match: {} }]), { group: "all", flags: "" });
  assert.equal(flagsFor({ id: "*", cluster: "edge-*" }), " --node-cluster edge-1");
  assert.equal(flagsFor({ id: "node-?", "metadata.stage": "it's" }), " --node-id node-1 --metadata 'stage=it'\\''s'");
  assert.equal(flagsFor({ "locality.zone": "z", "locality.region": "eu" }), " --locality eu/z");
  assert.equal(flagsFor({ "metadata.stage": "*" }), " --metadata stage=1");
});

test("the node of a start banner is accepted with the bootstrap that is printed for it", async () => {
  const match = { cluster: "edge-*", "locality.zone": "z?", "metadata.app.kubernetes.io/name": "web" };
  const { flags } = exampleNode([{ name: "edge", match }]);
  let out = "";
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: assert.fail,
  };
  assert.equal(await main(["bootstrap", "--grpc-client", ...flags.trim().split(" ")], terminal), 0);
  const node = fromJson(NodeSchema, JSON.parse(out).node);
  const server = createServer({ groups: [{ name: "edge", match, layers: ["default"] }] });
  server.config.set([cluster("web")]);
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({ servers: [grpc], node });
  assert.equal((await client.get("cluster", "web")).name, "web");
  await client.close();
  await server.close();
});
