import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport, createServer, type NodesFilter } from "@xdskit/server";
import { eventually } from "../testing/command.js";
import { type DashboardInput, dashboard } from "./dashboard.js";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;

/** A server with clients in memory, and its dashboard. */
async function scene() {
  const server = createServer({ onReject: "lastGood" });
  const transport = createMemoryTransport();
  await server.listenOn(transport, "here");
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const asked: NodesFilter[] = [];
  const input: DashboardInput = {
    readiness: () => "ready",
    sources: () => [],
    rollouts: server,
    nodes: {
      node: server.node,
      nodeConfig: server.nodeConfig,
      nodeStates: () => server.nodeStates(),
      nodes(filter = {}) {
        asked.push(filter);
        return server.nodes(filter);
      },
    },
  };
  return {
    server,
    /** The filters by which nodes were asked for. */
    asked,
    page: (other: Partial<DashboardInput> = {}) => dashboard({ ...input, ...other }, ["/metrics"]),
    /** A client that answers its first response so, or not at all. */
    async client(id: string, answer: "ack" | "nack" | "silence", message = "") {
      const responses: DiscoveryResponse[] = [];
      const stream = transport.open("here", ads, (bytes) => responses.push(fromBinary(DiscoveryResponseSchema, bytes)));
      const send = (request: MessageInitShape<typeof DiscoveryRequestSchema>) =>
        stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { typeUrl, ...request })));
      send({ node: { id, cluster: "edge", userAgentName: "envoy" } });
      await eventually(
        async () => responses.length,
        (count) => count === 1,
      );
      const { nonce: responseNonce = "", versionInfo } = responses[0] ?? {};
      if (answer === "ack") send({ responseNonce, versionInfo });
      if (answer === "nack") send({ responseNonce, errorDetail: { code: 3, message } });
      const state = { ack: "synced", nack: "rejected", silence: "pending" }[answer];
      await eventually(
        async () => server.node(id)?.state,
        (now) => now === state,
      );
    },
    [Symbol.asyncDispose]: () => server.close({ timeoutMs: 500 }),
  };
}

describe("the dashboard", () => {
  test("lists nodes, those first that need somebody, with the reason", async () => {
    await using on = await scene();
    await on.client("good", "ack");
    await on.client("slow", "silence");
    await on.client("bad", "nack", "lb_policy is not valid");
    const page = on.page();
    assert.match(page, /3 nodes .*1 rejected.*1 pending.*1 synced/);
    const rows = [...page.matchAll(/<td class=""><a href="[^"]*">(\w+)<\/a><\/td>(.*)/g)];
    assert.deepEqual(
      rows.map(([, id]) => id),
      ["bad", "slow", "good"],
    );
    assert.match(rows[0]?.[2] ?? "", /cluster rejected \(1 behind\).*lb_policy is not valid/);
  });

  test("says of how many TTLs a node is not told", async () => {
    await using on = await scene();
    // An Envoy that gives no version.
    on.server.config.set([createResource(create(ClusterSchema, { name: "a" }), { ttl: 30_000 })]);
    await on.client("untold", "ack");
    assert.match(on.page(), /untold.*1 TTL not told to the client/);
  });

  test("looks for no nodes in states that nobody has", async () => {
    await using on = await scene();
    on.page();
    assert.deepEqual(on.asked, []);
    await on.client("good", "ack");
    on.page();
    assert.deepEqual(on.asked, [{ state: "synced", most: 100 }]);
  });

  test("shows what clients and files say as text, however long it is", async () => {
    await using on = await scene();
    const markup = `<script>alert(1)</script>" onload='x`;
    await on.client(markup, "nack", `${markup}${"x".repeat(100_000)}`);
    const finding = { code: "XDSKIT_SYNTAX", severity: "error", message: markup, file: markup } as const;
    const source = { name: `folder ${markup}`, state: "refused", findings: Array(50).fill(finding), lastApplied: null };
    const page = on.page({ sources: () => [source] });
    assert.doesNotMatch(page, /<script|" onload|'x/);
    assert.match(page, /&#60;script&#62;alert\(1\)/);
    assert.match(page, /50 findings/);
    assert.match(page, /and 30 more/);
    assert.ok(page.length < 30_000, `${page.length} characters`);
  });

  test("says why an origin is away, and nothing of it once it is there again", async () => {
    await using on = await scene();
    const lastError = { at: "2026-01-02T03:04:05.678Z", message: "connect ECONNREFUSED" };
    const source = { name: "upstream of all", findings: [], lastApplied: null, lastError };
    assert.match(on.page({ sources: () => [{ ...source, state: "away" }] }), /05\.678Z: connect ECONNREFUSED/);
    assert.doesNotMatch(on.page({ sources: () => [{ ...source, state: "connected" }] }), /ECONNREFUSED/);
  });

  test("shows changes that go out by steps, and what is in quarantine", async () => {
    await using on = await scene();
    assert.doesNotMatch(on.page(), /Rollouts/);
    await on.client("one", "ack");
    const upsert = [create(ClusterSchema, { name: "a", altStatName: "2" })];
    on.server.config.update({ upsert }, { rollout: { steps: [{ count: 1 }] } });
    assert.match(on.page(), /waiting.*step 1 of 1.*1 resource.*1 reached, 1 pending, 0 rejected, 0 held back/);
    on.server.rollouts()[0]?.rollBack();
    assert.match(on.page(), /1 content in quarantine[\s\S]*cluster a.*rolled-back/);
  });
});

test("the dashboard says that a source is rolled back", () => {
  const server = createServer();
  const rolledBack = { revision: "r2", to: "r1", layer: "folder", time: "2026-01-02T03:04:05.000Z" };
  const source = { name: "folder", state: "applied", findings: [], rolledBack, lastApplied: rolledBack.time };
  const page = dashboard({ readiness: () => "ready", sources: () => [source], nodes: server, rollouts: server }, []);
  assert.match(page, /, layer folder is rolled back to revision r1 since 2026-01-02T03:04:05\.000Z, until it changes</);
});
