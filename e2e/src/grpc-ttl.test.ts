import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import {
  apiListener,
  cluster,
  configSource,
  loadAssignment,
  perishable,
  routeConfiguration,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { grpcClientCommand, grpcClients, startGrpcClient } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { serve } from "./harness/xdskit/xdskit.js";

const source = configSource("ads-sotw");
const ttlSeconds = 1;

for (const name of grpcClients) {
  test(`A gRPC client is told no TTLs, whatever the settings say, ${name}`, { timeout: 120_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const red = await startGrpcBackend(scene, "red");
    const folder = await createConfigFolder(scene.directory, {
      "all.yaml": [
        perishable("one", ttlSeconds, cluster({ name: "one", source })),
        perishable("one", ttlSeconds, loadAssignment("one", [red.port])),
        perishable("greeter", ttlSeconds, apiListener({ name: "greeter", routeName: "routes", source })),
        perishable("routes", ttlSeconds, routeConfiguration("routes", "one")),
      ],
    });
    await folder.putText("xdskit.yaml", "ttl: always\n");
    const { grpc, admin } = await serve(scene, folder.path);
    const client = await startGrpcClient(scene, { name, command, server: grpc, target: "greeter" });

    await scene.step("resolves, and goes on after a TTL would have ended", async () => {
      await eventually("answers", () => client.ok() > 0);
      await quiet(3 * ttlSeconds * 1000);
      const seen = client.ok();
      await eventually("more answers", () => client.ok() >= seen + 10);
      assert.deepEqual(client.failures(), []);
      assert.equal(await metric(admin, "xdskit_heartbeats_total"), 0);
      assert.equal(await metric(admin, "xdskit_nacks_total"), 0);
    });
  });
}
