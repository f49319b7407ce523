import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type Files, type ResourceText } from "./harness/basics/config-folder.js";
import { apiListener, cluster, configSource, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { grpcClientCommand, grpcClients, startGrpcClient } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { clientStatus } from "./harness/xdskit/status.js";
import { serve } from "./harness/xdskit/xdskit.js";

const source = configSource("ads-sotw");
const types = ["listener", "route", "cluster", "endpoint"];

for (const name of grpcClients) {
  test(`A gRPC client and missing resources, ${name}`, { timeout: 120_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const red = await startGrpcBackend(scene, "red");
    const listener = apiListener({ name: "greeter", routeName: "routes", source });
    const routes = routeConfiguration("routes", "one");
    const one = cluster({ name: "one", source });
    const endpoints = loadAssignment("one", [red.port]);
    /** In the order in which they are asked for. */
    const all = [listener, routes, one, endpoints];
    // What nobody asks for: the server has something to say of each type that it serves in full.
    const unrelated = [apiListener({ name: "other", routeName: "others", source }), cluster({ name: "other", source })];
    const files = (present: readonly ResourceText[]): Files => ({ "all.yaml": [...unrelated, ...present] });
    const folder = await createConfigFolder(scene.directory, files([]));
    const server = await serve(scene, folder.path, { args: ["--references", "warn"] });
    const client = await startGrpcClient(scene, { name, command, server: server.grpc, target: "greeter" });
    const answers = (): Promise<unknown> => {
      const [seen, failed] = [client.ok(), client.failures().length];
      return eventually(
        `answers (failures since: ${
          client
            .failures()
            .slice(failed, failed + 3)
            .join("; ") || "none"
        })`,
        () => client.ok() >= seen + 10,
      );
    };
    const goesAndComes = async (others: readonly ResourceText[]): Promise<void> => {
      const failed = client.failures().length;
      await folder.put(files(others));
      await eventually("a call that fails", () => client.failures().length > failed);
      await folder.put(files(all));
      await answers();
    };

    const resolved = await scene.step("gets each of them once it is there", async () => {
      for (const [count, type] of types.entries()) {
        await eventually(`a question for a ${type}`, async () => {
          const [status] = await clientStatus(server.grpc);
          return status?.types.some((asked) => asked.type === type);
        });
        assert.equal(client.ok(), 0);
        await folder.put(files(all.slice(0, count + 1)));
      }
      await answers();
      // On a slow machine all of that takes longer than a call of the client's, which then ends as it waits.
      const others = client.failures().filter((one) => !/^after 0 answers: \S*deadline_?exceeded/i.test(one));
      assert.deepEqual(others, []);
    });
    if (!resolved) return;

    // grpc-js follows a listener that comes again only to routes of another name, and a cluster not at all.
    if (name === "grpc-js") return;

    await scene.step("learns that its listener is gone, and that it is back", async () => {
      await goesAndComes([routes, one, endpoints]);
    });

    await scene.step("learns that its cluster is gone, and that it is back", async () => {
      await goesAndComes([listener, routes, endpoints]);
    });
  });
}
