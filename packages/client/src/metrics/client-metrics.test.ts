import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer } from "@xdskit/server";
import { createClient } from "../create-client.js";
import { waitFor } from "../testing/wait-for.js";
import { type ClientMetrics, createClientMetrics } from "./client-metrics.js";
import { prometheusText } from "./prometheus-text.js";

const cluster = (name: string, altStatName = "") => create(ClusterSchema, { name, altStatName });
const ignored = { onChanged: () => {} };
const type = `grpc_xds_resource_type="envoy.config.cluster.v3.Cluster"`;

/** The lines of one metric, without the labels that are always the same. */
const linesOf = (metrics: ClientMetrics, name: string) =>
  prometheusText(metrics.read())
    .split("\n")
    .filter((line) => line.startsWith(`grpc_xds_client_${name}`))
    .map((line) => line.slice("grpc_xds_client_".length).replace(`,${type}`, "").replace(`grpc_target="shop"`, "_"))
    .sort();

describe("metrics of a client", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`the metrics count received, rejected and known resources, ${variant}`, async () => {
      const server = createServer();
      const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
      const client = createClient({
        servers: [{ kind: "grpc", address, variant }],
        node: { id: "me" },
        absentAfterMs: 300,
        backoff: { firstMs: 50, maxMs: 50 },
        checks: {
          cluster: (message) => ("altStatName" in message && message.altStatName === "bad" ? "it is bad" : undefined),
        },
      });
      const metrics = createClientMetrics(client, { target: "shop" });
      const at = `_,grpc_xds_server="${address}"`;
      const holds = (what: string, ...lines: readonly string[]) =>
        waitFor(
          () => `${lines.join("\n")}\nin\n${prometheusText(metrics.read())}`,
          () => JSON.stringify(linesOf(metrics, what)) === JSON.stringify([...lines].sort()),
        );
      const state = (name: string, count: number, authority = "#old") =>
        `resources{_,grpc_xds_authority="${authority}",grpc_xds_cache_state="${name}"} ${count}`;
      try {
        assert.deepEqual(linesOf(metrics, ""), []);
        server.config.set([cluster("a"), cluster("b")]);
        for (const name of ["a", "b", "none", "xdstp:///envoy.config.cluster.v3.Cluster/c"]) {
          client.watch(ClusterSchema, name, ignored);
        }
        await holds("resources", state("acked", 2), state("does_not_exist", 1), state("does_not_exist", 1, ""));
        await holds("connected", `connected{${at}} 1`);
        await holds("server_failure", `server_failure_total{${at}} 0`);

        server.config.update({ upsert: [cluster("b", "bad")] });
        await holds("resource_updates_invalid", `resource_updates_invalid_total{${at}} 1`);
        await holds(
          "resources",
          state("acked", 1),
          state("nacked_but_cached", 1),
          state("does_not_exist", 1),
          state("does_not_exist", 1, ""),
        );
        const [before] = linesOf(metrics, "resource_updates_valid");
        server.config.update({ upsert: [cluster("b", "good")] });
        await holds("resources", state("acked", 2), state("does_not_exist", 1), state("does_not_exist", 1, ""));
        const [after] = linesOf(metrics, "resource_updates_valid");
        // SotW: both come again.
        const more = Number(after?.split(" ")[1]) - Number(before?.split(" ")[1]);
        assert.equal(more, variant === "sotw" ? 2 : 1);

        await server.close({ timeoutMs: 500 });
        await holds("server_failure", `server_failure_total{${at}} 1`);
        await holds("connected", `connected{${at}} 0`);
        metrics.stop();
      } finally {
        await client.close();
        await server.close({ timeoutMs: 500 });
      }
    });
  }

  it("Prometheus can read the metrics", () => {
    const values = [{ labels: { "grpc.target": 'a"b\\c\nd' }, value: 3 }];
    const one = {
      name: "grpc.x.y",
      kind: "counter",
      unit: "{x}",
      help: "What it is",
      labelNames: ["grpc.target"],
      values,
    } as const;
    const expected =
      '# HELP grpc_x_y_total What it is\n# TYPE grpc_x_y_total counter\ngrpc_x_y_total{grpc_target="a\\"b\\\\c\\nd"} 3\n';
    assert.equal(prometheusText([one]), expected);
  });
});
