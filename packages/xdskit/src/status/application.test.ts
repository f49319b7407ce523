import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createClient, serveStatus } from "@xdskit/client";
import { createServer } from "@xdskit/server";
import { eventually, xdskitEnds } from "../testing/command.js";

const cluster = (name: string, altStatName = "") => create(ClusterSchema, { name, altStatName });

test("xdskit status looks into an application that uses the client", async () => {
  const server = createServer();
  const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({
    servers: [address],
    node: { id: "shop-1", cluster: "shop" },
    absentAfterMs: 300,
    checks: {
      cluster: (message) => ("altStatName" in message && message.altStatName === "bad" ? "it is bad" : undefined),
    },
  });
  const served = await serveStatus(client, "127.0.0.1:0");
  try {
    server.config.set([cluster("a"), cluster("b")]);
    for (const name of ["a", "b", "none"]) client.watch(ClusterSchema, name, { onChanged() {} });
    const ask = async (...args: readonly string[]) => {
      const { status, out, err } = await xdskitEnds("status", "--server", served.address, "--json", ...args);
      assert.equal(err, "");
      return { status, nodes: JSON.parse(out).nodes };
    };
    const isMissing = ({ nodes }: Awaited<ReturnType<typeof ask>>) => nodes[0]?.types[0]?.state === "missing";
    const { nodes } = await eventually(ask, isMissing);
    const [{ types, ...node }] = nodes;
    assert.deepEqual([node.id, node.cluster], ["shop-1", "shop"]);
    assert.match(node.userAgent, /^xdskit \d/);
    const [type] = types;
    assert.deepEqual([type.type, type.behind], ["cluster", 0]);

    server.config.update({ upsert: [cluster("b", "bad")] });
    const isRejected = ({ nodes: [first] }: Awaited<ReturnType<typeof ask>>) => first?.types[0]?.state === "rejected";
    const rejected = await eventually(ask, isRejected);
    assert.match(rejected.nodes[0].types[0].error.details, /it is bad/);
    const text = await xdskitEnds("status", "--server", served.address, "shop-1");
    assert.match(text.out, /b.*rejected|rejected.*b/s);
    assert.match(text.out, /it is bad/);
  } finally {
    await served.close();
    await client.close();
    await server.close({ timeoutMs: 500 });
  }
});
