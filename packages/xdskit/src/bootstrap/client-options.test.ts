import assert from "node:assert/strict";
import { test } from "node:test";
import { clientOptionsFromBootstrap } from "@xdskit/client";
import { xdskitEnds } from "../testing/command.js";

async function printed(...args: readonly string[]) {
  const { status, out } = await xdskitEnds("bootstrap", "--node-id", "edge-7", "--node-cluster", "edge", ...args);
  assert.equal(status, 0);
  return clientOptionsFromBootstrap({ text: out });
}

test("our own client can use Envoy's bootstrap", async () => {
  for (const variant of ["sotw", "delta"] as const) {
    for (const [option, aggregated] of [
      ["--ads", true],
      ["--per-type", false],
    ] as const) {
      const { kind, servers, node, nodeOn } = await printed("--variant", variant, option, "--server", "[::1]:443");
      assert.deepEqual(
        { kind, servers, nodeOn },
        {
          kind: "envoy",
          servers: [
            { kind: "grpc", address: "[::1]:443", tls: undefined, headers: {}, variant, aggregated, api: "v3" },
          ],
          nodeOn: "first",
        },
      );
      assert.deepEqual(node, { id: "edge-7", cluster: "edge", locality: undefined, metadata: undefined });
    }
  }
  const { servers } = await printed("--variant", "rest", "--server", "localhost:18001");
  const polls = { refreshDelayMs: 100, requestTimeoutMs: 1_000 };
  assert.deepEqual(servers, [{ kind: "rest", url: "http://localhost:18001", tls: undefined, ...polls, api: "v3" }]);
});

test("our own client can use the bootstrap of gRPC's clients", async () => {
  const given = ["--server", "localhost:443", "--server", "localhost:444"];
  const { kind, servers, node, grpc } = await printed("--grpc-client", ...given);
  assert.equal(kind, "grpc");
  const [server, fallback] = servers ?? [];
  assert.equal(typeof fallback === "object" && fallback.kind === "grpc" && fallback.address, "localhost:444");
  assert.ok(typeof server === "object" && server.kind === "grpc");
  const { address, variant, aggregated } = server;
  assert.deepEqual({ address, variant, aggregated }, { address: "localhost:443", variant: "sotw", aggregated: true });
  assert.equal("id" in node && node.id, "edge-7");
  assert.equal(grpc?.serverListenerOf("0.0.0.0:1"), "grpc/server?xds.resource.listening_address=0.0.0.0:1");
});
