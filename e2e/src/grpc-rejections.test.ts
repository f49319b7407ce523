import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type Files, type ResourceText } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { apiListener, cluster, configSource, loadAssignment, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { grpcClientCommand, grpcClients, startGrpcClient } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { type ClientStatus, clientStatus } from "./harness/xdskit/status.js";
import { serve } from "./harness/xdskit/xdskit.js";

const source = configSource("ads-sotw");

/** Half of the calls go to each of the two clusters. */
const halves: ResourceText = {
  "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
  name: "routes",
  virtual_hosts: [
    {
      name: "all",
      domains: ["*"],
      routes: [
        {
          match: { prefix: "" },
          route: { weighted_clusters: { clusters: ["one", "two"].map((name) => ({ name, weight: 50 })) } },
        },
      ],
    },
  ],
};

for (const name of grpcClients) {
  test(`A gRPC client's rejections, ${name}`, { timeout: 120_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    // Of 2020: one bad resource is a bad response.
    const takesRest = name !== "go-v2";
    // grpc-js says where in the response it stood, and not what it was called.
    const blamed = name === "grpc-js" || !takesRest ? ["one", "two"] : ["one"];
    const scene = await createScene(t);
    const red = await startGrpcBackend(scene, "red");
    const green = await startGrpcBackend(scene, "green");
    const blue = await startGrpcBackend(scene, "blue");
    const files = (clusters: readonly ResourceText[]): Files => ({
      "clusters.yaml": clusters,
      "others.yaml": [
        loadAssignment("red", [red.port]),
        loadAssignment("green", [green.port]),
        loadAssignment("blue", [blue.port]),
        halves,
        apiListener({ name: "greeter", routeName: "routes", source }),
      ],
    });
    const named = (name: string, serviceName: string, lbPolicy = "ROUND_ROBIN"): ResourceText =>
      cluster({ name, source, serviceName, lbPolicy });
    const folder = await createConfigFolder(scene.directory, files([named("one", "red"), named("two", "green")]));
    const server = await serve(scene, folder.path);
    const client = await startGrpcClient(scene, { name, command, server: server.grpc, target: "greeter" });
    /** Resolves once the last calls were answered by all of these and by nobody else. */
    const answersFrom = (...names: string[]): Promise<unknown> => {
      const seen = client.ok();
      return eventually(`answers from ${names.join(" and ")} only`, () => {
        const last = client.lastBackends(Math.min(20, client.ok() - seen));
        return last.length === 20 && names.every((n) => last.includes(n)) && last.every((n) => names.includes(n));
      });
    };
    const nacks = (): Promise<number> => metric(server.admin, "xdskit_nacks_total");

    const resolved = await scene.step("resolves and calls", async () => {
      await answersFrom("red", "green");
    });
    if (!resolved) return;

    await scene.step("keeps the old content of a rejected resource, takes the others, and sends one NACK", async () => {
      await folder.put(files([named("one", "red", "MAGLEV"), named("two", "blue")]));
      await eventually("the rejection", async () => (await nacks()) > 0);
      await answersFrom("red", takesRest ? "blue" : "green");
      await quiet(1_000);
      assert.equal(await nacks(), 1);
      const [status] = await clientStatus(server.grpc);
      const clusters = status?.types.find(({ type }) => type === "cluster");
      assert.match(clusters?.error?.details ?? "", /lb.?policy/i);
      assert.deepEqual(rejected(clusters), blamed);
      assert.deepEqual(client.failures(), []);
    });

    await scene.step("takes the fixed one", async () => {
      await folder.put(files([named("one", "green"), named("two", "blue")]));
      await answersFrom("green", "blue");
      await eventually("all acknowledged", async () => {
        const [status] = await clientStatus(server.grpc);
        return status?.types.length === 4 && status.types.every(({ state }) => state === "synced");
      });
      assert.equal(await nacks(), 1);
      assert.deepEqual(client.failures(), []);
    });
  });
}

const rejected = (type: ClientStatus["types"][number] | undefined): readonly string[] =>
  (type?.resources ?? [])
    .filter(({ state }) => state === "rejected")
    .map(({ name }) => name)
    .sort();
