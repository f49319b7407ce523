import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { peer, root } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve } from "./harness/xdskit/xdskit.js";

const folder = join(root, "deploy/compose");
const file = join(folder, "compose.yaml");
const read = (name: string) => readFileSync(join(folder, name), "utf8");

interface Service {
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
}
const services = parse(readFileSync(file, "utf8")).services as Readonly<Record<string, Service>>;

test("the Compose file is valid, as docker reads it, and each file that it mounts is there", (t) => {
  const compose = peer("compose-config", t);
  if (compose === undefined) return;
  const { status, stderr } = spawnSync(compose, [file], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const wrong = spawnSync(compose, ["/dev/stdin"], { encoding: "utf8", input: "services: { a: { imge: b } }" });
  assert.notEqual(wrong.status, 0);
  for (const { volumes = [], build } of Object.values(services)) {
    for (const volume of volumes.filter((one) => one.startsWith(".")))
      assert.ok(existsSync(resolve(folder, volume.split(":")[0] ?? "")), volume);
    if (build !== undefined) assert.ok(existsSync(resolve(folder, build.context, build.dockerfile)));
  }
});

test("it opens ports on this machine only", () => {
  const ports = Object.values(services).flatMap(({ ports = [] }) => ports);
  assert.deepEqual(
    ports.filter((port) => !port.startsWith("127.0.0.1:")),
    [],
  );
});

test("promtool takes the settings of Prometheus, with the alert rules", async (t) => {
  const promtool = peer("promtool", t);
  if (promtool === undefined) return;
  const scene = await createScene(t);
  const copy = join(scene.directory, "prometheus.yml");
  writeFileSync(copy, read("prometheus.yaml"));
  writeFileSync(join(dirname(copy), "alerts.yaml"), readFileSync(join(root, "deploy/prometheus/alerts.yaml")));
  const { status, stdout, stderr } = spawnSync(promtool, ["check", "config", copy], { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /SUCCESS: \d\d rules found/);
});

test("Grafana finds its data source and the dashboard", () => {
  const [source] = parse(read("grafana/datasource.yaml")).datasources;
  assert.equal(
    new URL(source.url).hostname,
    Object.keys(services).find((name) => name === "prometheus"),
  );
  const [{ options }] = parse(read("grafana/dashboards.yaml")).providers;
  assert.ok(services.grafana?.volumes?.includes(`../grafana:${options.path}:ro`));
  assert.ok(existsSync(join(root, "deploy/grafana/xdskit.json")));
});

test("its Envoy gets its configuration from its xdskit, and answers", async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const scene = await createScene(t);
  const usual = ["bootstrap", "--server", "xdskit:18000", "--node-id", "envoy", "--node-cluster", "compose"];
  const { out } = await runXdskit(scene, ...usual);
  assert.equal(`${out}\n`, read("envoy.yaml"), `xdskit ${usual.join(" ")} makes it`);
  const config = join(scene.directory, "config");
  mkdirSync(config);
  const port = await freePort();
  // On one machine, where the ports of the containers are others.
  writeFileSync(
    join(config, "hello.yaml"),
    read("config/hello.yaml").replace("port_value: 10000", `port_value: ${port}`).replace("0.0.0.0", "127.0.0.1"),
  );
  const server = await serve(scene, config);
  const [, grpc = ""] = server.grpc.split(":");
  const bootstrap = join(scene.directory, "envoy.yaml");
  writeFileSync(
    bootstrap,
    read("envoy.yaml")
      .replace("address: xdskit", "address: 127.0.0.1")
      .replace("port_value: 18000", `port_value: ${grpc}`)
      .replace("port_value: 9901", "port_value: 0"),
  );
  scene.start({ name: "envoy", command: envoy, args: ["-c", bootstrap, "--concurrency", "1", "--base-id", `${port}`] });
  const said = await eventually("an answer", async () => (await fetch(`http://127.0.0.1:${port}/`)).text(), {
    withinMs: 60_000,
  });
  assert.equal(said, "hello\n");
});
