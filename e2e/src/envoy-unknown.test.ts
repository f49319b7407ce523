import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { peer } from "./harness/basics/peers.js";
import { restSource, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { serve } from "./harness/xdskit/xdskit.js";

const cluster = (name: string, more: object) => ({
  "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
  name,
  connect_timeout: "1s",
  ...more,
});

/** Field 9999 of a message that every cluster may have, and an extension that nobody knows. */
const field = { circuit_breakers: { thresholds: [{ max_requests: 10, "@unknown": "+vAEAUE=" }] } };
const extension = {
  typed_extension_protocol_options: {
    acme: {
      "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
      "@typeUrl": "type.googleapis.com/acme.Own",
      "@value": "CAE=",
    },
  },
};

test("an Envoy takes the known parts of JSON with unknown fields", { timeout: 300_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const clusters = [cluster("plain", {}), cluster("field", field), cluster("extension", extension)];
  const folder = await createConfigFolder(scene.directory, { "clusters.yaml": clusters });
  const out = join(scene.directory, "out");
  const server = await serve(scene, folder.path, { args: ["--to-files", out] });
  const binary = join(scene.directory, "binary");
  await serve(scene, folder.path, { args: ["--to-files", binary, "--to-files-format", "pb"] });
  const fromFile = (file: string) => ({ path_config_source: { path: file }, resource_api_version: "V3" });
  for (const [how, source] of [
    ["a file", fromFile(join(out, "cluster.json"))],
    ["a binary file", fromFile(join(binary, "cluster.pb"))],
    ["REST", restSource({ refreshDelay: "1s", requestTimeout: "5s" })],
  ] as const) {
    await scene.step(`from ${how}`, async () => {
      const { admin } = await startEnvoy(scene, {
        path,
        server: server.rest,
        variant: "rest",
        bootstrap: { dynamic_resources: { cds_config: source } },
      });
      await eventually(
        "the clusters that need nothing else",
        async () => [...(await admin.activeClusters()).keys()].sort().filter((name) => name !== "xdskit").length === 2,
      );
      const names = [...(await admin.activeClusters()).keys()].sort();
      assert.deepEqual(
        names.filter((name) => ["extension", "field", "plain"].includes(name)),
        ["field", "plain"],
      );
      assert.ok((await admin.stat("cluster_manager.cds.update_rejected")) > 0);
      assert.ok((await admin.stat("server.dynamic_unknown_fields")) > 0);
    });
  }
  await scene.step("and xdskit counts it", async () => {
    const labels = { api: "v3", type: "cluster", result: "incomplete" };
    assert.equal(await metric(server.admin, "xdskit_json_incomplete_total", labels), 2);
  });
});
