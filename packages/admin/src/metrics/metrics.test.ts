import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createClient } from "@xdskit/client";
import { createServer } from "@xdskit/server";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import { pendingSource } from "../contract/source-status.js";
import { createMetrics } from "./metrics.js";

const source = {
  ...pendingSource("folder config", "config"),
  findings: [
    { code: "XDSKIT_SYNTAX", severity: "error", message: "no" },
    { code: "XDSKIT_SYNTAX", severity: "error", message: "no" },
    { code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", message: "hm" },
  ],
  lastApplied: "2026-01-01T00:00:00.500Z",
} as const;

test("metrics are the server's numbers of the moment", async () => {
  const server = createServer();
  const metrics = createMetrics({
    name: "prod-eu",
    version: "1",
    server,
    readiness: () => "ready",
    sources: () => [source, { name: "kubernetes", state: "away", findings: [], lastApplied: null }],
  });
  await server.addSource({ name: "kubernetes", start: async (sink) => sink.took?.(30), close: async () => {} });
  server.config.set([create(ClusterSchema, { name: "a" }), create(ClusterSchema, { name: "b" })]);
  server.config.set([create(ClusterSchema, { name: "a" })]);
  assert.throws(() => server.config.set([create(ClusterSchema, { name: "" })]));
  for (let scrape = 1; scrape <= 2; scrape++) {
    const { text, contentType } = await metrics.read();
    assert.match(contentType, /^text\/plain; version=0\.0\.4/);
    for (const line of [
      "xdskit_ready 1",
      'xdskit_resources{group="all",type="cluster"} 1',
      'xdskit_config_updates_total{result="ok"} 2',
      'xdskit_source_findings{source="folder config",severity="error"} 2',
      'xdskit_source_findings{source="folder config",severity="warning"} 1',
      'xdskit_source_applied_timestamp_seconds{source="folder config"} 1767225600.5',
      'xdskit_source_away{source="folder config"} 0',
      'xdskit_source_away{source="kubernetes"} 1',
      'xdskit_event_to_publish_seconds_bucket{source="kubernetes",le="0.025"} 0',
      'xdskit_event_to_publish_seconds_bucket{source="kubernetes",le="0.05"} 1',
      'xdskit_event_to_publish_seconds_sum{source="kubernetes"} 0.03',
    ]) {
      assert.ok(text.split("\n").includes(line), `${line}\n${text}`);
    }
  }
  await server.close();
});

test("histograms count what clients acknowledged, each bucket with those below it", async () => {
  const server = createServer();
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = createClient({ servers: [grpc], node: { id: "n1" } });
  try {
    server.config.set([create(ClusterSchema, { name: "a" })]);
    client.watch(ClusterSchema, "*", { onChanged() {} });
    await waitFor("the first ACK", () => server.stats().types[0]?.acknowledged === 1);
    server.config.set([create(ClusterSchema, { name: "a", altStatName: "b" })]);
    await waitFor("the second ACK", () => server.stats().lags.length === 1);
    const { text } = await createMetrics({
      name: "prod-eu",
      version: "1",
      server,
      readiness: () => "ready",
      sources: () => [],
    }).read();
    const labels = 'type="cluster",group="all"';
    const name = "xdskit_publish_to_ack_seconds";
    const buckets = [...text.matchAll(/^xdskit_publish_to_ack_seconds_bucket\{(.*),le="(.*)"\} (\d+)$/gm)];
    assert.deepEqual(buckets[0]?.slice(1, 3), [labels, "0.001"]);
    assert.deepEqual(buckets.at(-1)?.slice(1), [labels, "+Inf", "1"]);
    assert.deepEqual(
      buckets.map(([, , , count]) => Number(count)),
      buckets.map(([, , , count]) => Number(count)).sort((a, b) => a - b),
    );
    assert.ok(text.includes(`\n${name}_count{${labels}} 1\n`), text);
    assert.match(text, /^xdskit_publish_to_ack_seconds_sum\{type="cluster",group="all"\} 0\.\d+$|_sum\{.*\} 0$/m);
    assert.match(text, /^xdskit_response_size_bytes_count\{type="cluster",variant="(sotw|delta)"\} 2$/m);
    const [, bytes] = /^xdskit_response_size_bytes_sum\{.*\} (\d+)$/m.exec(text) ?? [];
    assert.equal(Number(bytes), server.stats().types[0]?.responseBytes);
  } finally {
    await client.close();
    await server.close({ timeoutMs: 500 });
  }
});

test("the first scrape has no value that was not measured", async () => {
  const server = createServer();
  const metrics = createMetrics({ name: "prod-eu", version: "1", server, readiness: () => "ready", sources: () => [] });
  // The second follows at once: nothing is measured between them either.
  for (const { text } of [await metrics.read(), await metrics.read()]) {
    const values = [...text.matchAll(/^([a-z]\S*) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)] as const);
    assert.ok(values.length > 20, text);
    const absurd = values.filter(([name, value]) => {
      const most = /_timestamp_|start_time/.test(String(name))
        ? Date.now() / 1_000 + 60
        : /_seconds/.test(String(name))
          ? 1e6
          : 1e13;
      return !(value >= 0 && value <= most);
    });
    assert.deepEqual(absurd, []);
  }
  await server.close();
});
