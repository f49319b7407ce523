import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterYaml } from "../testing/folder.js";
import { served } from "../testing/served.js";

test("the API answers while the server stops, or nobody does: never without the store that it asks", async () => {
  await using server = await served({ "a.yaml": clusterYaml("web") });
  const answers: string[] = [];
  const change = { upsert: [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "b" }] };
  const ask = async (path: string, body?: object) => {
    for (;;) {
      const headers = { "content-type": "application/json" };
      const sent = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(`${server.admin}/api/v1/${path}`, sent).catch(() => undefined);
      if (response === undefined) return;
      const text = await response.text().catch(() => "");
      const isRefused = response.status === 503 && text.includes("XDSKIT_SERVER_CLOSED");
      answers.push(response.ok || isRefused ? "fine" : `${path}: ${response.status} ${text.slice(0, 300)}`);
    }
  };
  const asked = ["revisions", "layers", "revisions", "activity"];
  const lanes = [ask("layers/api/changes", change), ...asked.map((path) => ask(path))];
  while (answers.length < 50) await new Promise((resolve) => setTimeout(resolve, 10));
  const before = answers.length;
  server.running.kill("SIGTERM");
  await server.running.ended();
  await Promise.all(lanes);
  assert.ok(before > 0);
  assert.deepEqual([...new Set(answers)], ["fine"]);
});
