import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { cluster, httpListener, routeConfiguration, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { type StageOptions, setStage } from "./harness/peers/stage.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get, startTraffic } from "./harness/traffic/traffic.js";

const type = "envoy.config.endpoint.v3.LbEndpoint";
/** What an Envoy subscribes to; the endpoints' names begin with it, without the star. */
const collection = `xdstp://example/${type}/zone-a/*`;

const endpoint = (name: string, port: number): ResourceText => ({
  "@type": typeUrl("envoy.service.discovery.v3.Resource"),
  name: collection.replace("*", name),
  resource: {
    "@type": typeUrl(type),
    endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
    health_status: "HEALTHY",
    load_balancing_weight: 1,
  },
});

/** A cluster whose endpoints are all members of the collection. */
const files: StageOptions["files"] = ({ port, source }) => ({
  "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
  "routes.yaml": [routeConfiguration("routes", "a")],
  "clusters.yaml": [cluster({ name: "a", source })],
  "assignments.yaml": [
    {
      "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
      cluster_name: "a",
      endpoints: [
        {
          locality: { region: "here", zone: "a" },
          load_balancing_weight: 1,
          leds_cluster_locality_config: { leds_config: source, leds_collection_name: collection },
        },
      ],
    },
  ],
});

// LEDS has no state of the world.
for (const variant of ["ads-delta", "per-type-delta"] as const) {
  test(`Envoy's locality endpoints, ${variant}`, { timeout: 60_000 }, async (t) => {
    const backends = await createScene(t);
    const red = await startHttpBackend(backends, "red");
    const green = await startHttpBackend(backends, "green");
    const blue = await startHttpBackend(backends, "blue");
    const stage = await setStage(t, {
      variant,
      service: "locality-endpoint",
      files: (props) => ({
        ...files(props),
        "endpoints.yaml": [endpoint("one", red.port)],
      }),
    });
    if (stage === undefined) return;
    const { scene, folder, admin, port } = stage;
    const traffic = startTraffic(scene, port);
    const answersFrom = (...names: string[]): Promise<unknown> => {
      const seen = traffic.ok();
      return eventually(`answers from ${names.join(" and ")} only`, () => {
        const last = traffic.lastBackends(Math.min(10, traffic.ok() - seen));
        return last.length === 10 && names.every((n) => last.includes(n)) && last.every((n) => names.includes(n));
      });
    };

    await scene.step("has the members from its boot on", async () => {
      await answersFrom("red");
      assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
    });

    await scene.step("takes a member that comes, one that changes and one that goes", async () => {
      await folder.put({ "endpoints.yaml": [endpoint("one", red.port), endpoint("two", green.port)] });
      await answersFrom("red", "green");
      await folder.put({ "endpoints.yaml": [endpoint("one", blue.port), endpoint("two", green.port)] });
      await answersFrom("blue", "green");
      await folder.put({ "endpoints.yaml": [endpoint("one", blue.port)] });
      await answersFrom("blue");
    });

    await scene.step("takes the exchange of all members in one change", async () => {
      await folder.put({ "endpoints.yaml": [endpoint("three", green.port), endpoint("four", red.port)] });
      await answersFrom("green", "red");
    });

    await scene.step("had no failed request", async () => {
      assert.deepEqual(traffic.failures(), []);
    });

    await scene.step("takes members again after all of them went", async () => {
      await folder.put({ "endpoints.yaml": [] });
      await eventually("no endpoint", async () => (await get(port)).status === 503);
      await folder.put({ "endpoints.yaml": [endpoint("five", blue.port)] });
      await answersFrom("blue");
    });
  });

  test(`Envoy boots without locality endpoints, and takes them later, ${variant}`, { timeout: 60_000 }, async (t) => {
    // It is told at once that there are none: nothing waits for its 15 s to be over.
    const stage = await setStage(t, { variant, service: "locality-endpoint", files, withinMs: 8_000 });
    if (stage === undefined) return;
    const { folder, port } = stage;
    const red = await startHttpBackend(stage.scene, "red");
    assert.equal((await get(port)).status, 503);
    await folder.put({ "endpoints.yaml": [endpoint("one", red.port)] });
    await eventually("an answer of the one that came", async () => (await get(port)).body === "red");
  });
}
