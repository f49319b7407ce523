import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  cluster,
  configSource,
  httpListener,
  loadAssignment,
  routeConfiguration,
  typeUrl,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { serve, xdskitCommand } from "./harness/xdskit/xdskit.js";

const execute = promisify(execFile);
const source = configSource("ads-delta");

/** Clusters of which each has a field that is new in a version of Envoy. */
const newFields: readonly { readonly since: number; readonly field: string; readonly fields: object }[] = [
  {
    since: 37,
    field: "enable_huffman_encoding",
    fields: {
      typed_extension_protocol_options: {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
          "@type": typeUrl("envoy.extensions.upstreams.http.v3.HttpProtocolOptions"),
          explicit_http_config: { http2_protocol_options: { enable_huffman_encoding: true } },
        },
      },
    },
  },
  {
    since: 38,
    field: "per_connection_buffer_high_watermark_timeout",
    fields: { per_connection_buffer_high_watermark_timeout: "10s" },
  },
  {
    since: 39,
    field: "budget_interval",
    fields: { circuit_breakers: { thresholds: [{ retry_budget: { budget_interval: "1s" } }] } },
  },
  { since: 40, field: "stats_matcher", fields: { stats_matcher: { reject_all: true } } },
];

/**
 * HTTP filters of which each is new in a version of Envoy: an Envoy that lacks one rejects the listener that has it.
 */
const newFilters: readonly { readonly since: number; readonly type: string; readonly fields: object }[] = [
  { since: 37, type: "transform.v3.TransformConfig", fields: {} },
  { since: 38, type: "a2a.v3.A2a", fields: {} },
  { since: 39, type: "bandwidth_share.v3.BandwidthShare", fields: {} },
  { since: 40, type: "body_size_limit.v3.BodySizeLimit", fields: { max_request_bytes: 1_000 } },
];
const filterType = (type: string) => `envoy.extensions.filters.http.${type}`;

interface ValidateReport {
  readonly valid: boolean;
  readonly findings: readonly { readonly code: string; readonly severity: string; readonly message: string }[];
}

async function validate(directory: string, version: string): Promise<ValidateReport> {
  const { command, args } = xdskitCommand();
  const asked = [...args, "validate", directory, "--envoy-version", version, "--json"];
  const { stdout } = await execute(command, asked).catch((failed: { readonly stdout: string }) => failed);
  return JSON.parse(stdout) as ValidateReport;
}

for (const minor of isLong ? ([36, 37, 38, 39, 40] as const) : ([36, 39, 40] as const)) {
  test(`the server's log names what Envoy 1.${minor} does not know`, { timeout: 180_000 }, async (t) => {
    const path = peer(minor === 40 ? "envoy" : `envoy-1.${minor}`, t);
    if (path === undefined) return;
    const version = `1.${minor}`;
    const scene = await createScene(t);
    const red = await startHttpBackend(scene, "red");
    const port = await freePort();
    const folder = await createConfigFolder(scene.directory, {
      "clusters.yaml": [cluster({ name: "a", source })],
      "endpoints.yaml": [loadAssignment("a", [red.port])],
      "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
      "routes.yaml": [routeConfiguration("routes", "a")],
    });
    const server = await serve(scene, folder.path);
    const { admin } = await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta" });

    await scene.step("boots from the parts that it knows, without findings of validate", async () => {
      assert.deepEqual((await validate(folder.path, version)).findings, []);
      await eventually("an answer from red", async () => (await get(port)).body === "red");
      assert.equal(await admin.stat("server.dynamic_unknown_fields"), 0);
    });

    await scene.step("ignores exactly the fields that validate and the server's log name", async () => {
      const newer = newFields.filter(({ since }) => since > minor);
      const clusters = newFields.map(
        ({ field, fields }): ResourceText => ({ ...cluster({ name: field, source }), ...fields }),
      );
      await folder.put({
        "newer.yaml": clusters,
        "newer-endpoints.yaml": newFields.map(({ field }) => loadAssignment(field, [red.port])),
      });
      await eventually("all clusters", async () => (await admin.activeClusters()).size === newFields.length + 1);
      assert.equal(await admin.stat("cluster_manager.cds.update_rejected"), 0);
      assert.equal(await admin.stat("server.dynamic_unknown_fields"), newer.length);
      const said = newer.map(
        ({ since, field }) => `field "${field}" is new in Envoy 1.${since}; Envoy ${version} ignores it`,
      );
      const { valid, findings } = await validate(folder.path, version);
      assert.deepEqual([valid, findings.map(({ message }) => message).sort()], [true, said.sort()]);
      for (const { since, field } of newer)
        await server.process.errorLine(
          new RegExp(
            `${field}.{1,4} is new in Envoy 1\\.${since}; node .{1,4}envoy-1.{1,4} runs Envoy 1\\.${minor}\\.`,
          ),
        );
      await folder.remove("newer.yaml");
      await folder.remove("newer-endpoints.yaml");
    });

    await scene.step("rejects exactly the extensions that validate reports as errors", async () => {
      const ports = await Promise.all(newFilters.map(freePort));
      const listeners = newFilters.map(({ type, fields }, index) =>
        httpListener({
          name: type,
          port: ports[index] ?? 0,
          routeName: "routes",
          source,
          filters: [{ name: type, typed_config: { "@type": typeUrl(filterType(type)), ...fields } }],
        }),
      );
      await folder.put({ "newer-listeners.yaml": listeners });
      // By a count: the dump of an Envoy cannot hold a listener of whose parts it does not know the type.
      const understood = newFilters.filter(({ since }) => since <= minor).length;
      await eventually(
        "the listeners that it understands",
        async () => (await admin.stat("listener_manager.total_listeners_active")) === understood + 1,
      );
      const rejected = newFilters.filter(({ since }) => since > minor);
      const isRejected = async () => (await admin.stat("listener_manager.lds.update_rejected")) > 0;
      if (rejected.length > 0) await eventually("the rejection", isRejected);
      else assert.equal(await isRejected(), false);
      const { valid, findings } = await validate(folder.path, version);
      const said = rejected.map(
        ({ since, type }) => `type "${filterType(type)}" is new in Envoy 1.${since}; Envoy ${version} rejects it`,
      );
      assert.deepEqual([valid, findings.map(({ message }) => message).sort()], [rejected.length === 0, said.sort()]);
    });
  });
}
