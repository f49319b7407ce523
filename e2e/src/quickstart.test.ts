import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { peer, root } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

const quickstart = join(root, "examples/quickstart");

/** What the cluster does not provide, as only Envoy finds. */
const providedByCluster = `{ policies: [{ typed_extension_config: { name: a, typed_config: { "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided" } } }] }`;

test("the steps of the quickstart's README work with a real Envoy", { timeout: 120_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);

  // 2. The two services.
  const services = scene.start({
    name: "services",
    command: process.execPath,
    args: [join(quickstart, "services.mjs"), "0", "0"],
  });
  const [, one = ""] = await services.line(/^service one on http:\/\/127\.0\.0\.1:(\d+)$/);
  const [, two = ""] = await services.line(/^service two on http:\/\/127\.0\.0\.1:(\d+)$/);

  // 1. The server, on the same files with free ports in them.
  const port = await freePort();
  const ports: Readonly<Record<string, string>> = { "10000": String(port), "10001": one, "10002": two };
  const text = (name: string): string =>
    readFileSync(join(quickstart, "config", name), "utf8").replace(/port_value: (\d+)/g, (_, known: string) => {
      assert.ok(ports[known], `port ${known} is not one that the README knows`);
      return `port_value: ${ports[known]}`;
    });
  const folder = await createConfigFolder(scene.directory, {});
  for (const name of readdirSync(join(quickstart, "config"))) await folder.putText(name, text(name));
  const server = await serve(scene, folder.path);

  // 3. Envoy, with the printed bootstrap.
  await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta", id: "node-1" });

  const answers = (to: string, body: string): Promise<unknown> =>
    eventually(
      `${to} answered by ${body}`,
      async () => (await get(port, { path: to })).body === `hello from ${body}\n`,
    );
  const stillAnswers = async (to: string, body: string): Promise<void> =>
    assert.equal((await get(port, { path: to })).body, `hello from ${body}\n`);

  await scene.step("4. Requests", async () => {
    await answers("/one", "one: GET /one");
    await answers("/", "two: GET /");
  });

  const routes = text("routes.yaml");
  await scene.step("5. A change", async () => {
    const changed = routes.replace("route: { cluster: two }", "route: { cluster: one }");
    assert.notEqual(changed, routes);
    await folder.putText("routes.yaml", changed);
    await answers("/", "one: GET /");
  });

  await scene.step("6. A mistake, and its correction", async () => {
    await folder.putText("routes.yaml", routes.replace("{ prefix: / }", "{ prefiks: / }"));
    await server.process.errorLine(/routes\.yaml:\d+:\d+: .*prefiks.*\[XDSKIT_\w+\]/);
    await stillAnswers("/", "one: GET /");
    await folder.putText("routes.yaml", routes);
    await answers("/", "two: GET /");
  });

  await scene.step(
    "an error that only Envoy can find is rejected and reported once, and the traffic goes on",
    async () => {
      const clusters = text("clusters.yaml");
      await folder.putText(
        "clusters.yaml",
        clusters.replace("name: two", `name: two\n  load_balancing_policy: ${providedByCluster}`),
      );
      const rejection = /warn {2}client rejected .*\(NACK\).* node=node-1 .*type=cluster .*cluster provided LB/;
      await server.process.errorLine(rejection);
      await stillAnswers("/", "two: GET /");
      const acks = await metric(server.admin, "xdskit_acks_total", { type: "cluster" });
      await folder.putText("clusters.yaml", clusters);
      await eventually(
        "the correction acknowledged",
        async () => (await metric(server.admin, "xdskit_acks_total", { type: "cluster" })) > acks,
      );
      assert.equal(await metric(server.admin, "xdskit_nacks_total", { type: "cluster" }), 1);
      assert.equal(server.process.stderr.filter((line) => line.includes("(NACK)")).length, 1);
      assert.equal(await metric(server.admin, "xdskit_nodes"), 1);
    },
  );

  await scene.step("the server stops while Envoy is connected, and Envoy keeps its resources", async () => {
    assert.deepEqual(await server.process.stop("SIGTERM"), { code: 0, signal: null });
    await stillAnswers("/one", "one: GET /one");
  });
});
