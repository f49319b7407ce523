import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { answering, configSource, httpListener, typeUrl } from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { setStage } from "./harness/peers/stage.js";
import { get, startTraffic } from "./harness/traffic/traffic.js";

/** A virtual host of a route configuration, under the name by which an Envoy asks for it. */
const virtualHost = (routes: string, host: string, body: string): ResourceText => {
  const name = `${routes}/${host}`;
  return {
    "@type": typeUrl("envoy.service.discovery.v3.Resource"),
    name,
    resource: { "@type": typeUrl("envoy.config.route.v3.VirtualHost"), ...answering(name, body, [host]) },
  };
};

/** Asks for the virtual host of a request that none is known for, and lets the request wait for it. */
const onDemand = {
  name: "envoy.filters.http.on_demand",
  typed_config: { "@type": typeUrl("envoy.extensions.filters.http.on_demand.v3.OnDemand") },
};

const ownService = configSource("per-type-delta");

// VHDS has no state of the world: where all else comes so, the virtual hosts have a stream of their own.
for (const [variant, ownStream] of [
  ["ads-delta", false],
  ["per-type-delta", true],
  ["ads-sotw", true],
] as const) {
  test(`Envoy's virtual hosts, ${variant}${ownStream ? " and their own service" : ""}`, {
    timeout: 60_000,
  }, async (t) => {
    const routes = (name: string, source: Record<string, unknown>): ResourceText => ({
      "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
      name,
      virtual_hosts: [answering("built in", name, ["built.in"])],
      vhds: { config_source: ownStream ? ownService : source },
    });
    const stage = await setStage(t, {
      variant,
      service: "virtual-host",
      ownStream,
      files: ({ port, source }) => ({
        "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, filters: [onDemand] })],
        "routes.yaml": [routes("routes", source), routes("unused", source)],
        "hosts.yaml": [
          virtualHost("routes", "a.com", "red"),
          virtualHost("routes", "b.com", "green"),
          virtualHost("unused", "a.com", "wrong"),
        ],
      }),
    });
    if (stage === undefined) return;
    const { scene, folder, admin, port } = stage;
    const answer = async (host: string): Promise<string> => {
      const { status, body } = await get(port, { headers: { host } });
      return status === 200 ? body : String(status);
    };
    const answers = (host: string, expected: string): Promise<unknown> =>
      eventually(`${host} answered by ${expected}`, async () => {
        assert.equal(await answer(host), expected);
        return true;
      });

    await scene.step("serves the hosts that a route configuration has itself", async () => {
      assert.equal(await answer("built.in"), "routes");
    });

    await scene.step("gets a host at its first request", async () => {
      assert.equal(await answer("a.com"), "red");
      assert.equal(await answer("b.com"), "green");
    });
    const traffic = startTraffic(scene, port, { headers: { host: "b.com" } });

    await scene.step("takes a host that is changed, one that goes and one that comes", async () => {
      const b = virtualHost("routes", "b.com", "green");
      await folder.put({ "hosts.yaml": [virtualHost("routes", "a.com", "blue"), b] });
      await answers("a.com", "blue");
      await folder.put({ "hosts.yaml": [b] });
      await answers("a.com", "404");
      await folder.put({ "hosts.yaml": [b, virtualHost("routes", "c.com", "grey")] });
      await answers("c.com", "grey");
      await folder.put({ "hosts.yaml": [b, virtualHost("routes", "a.com", "red again")] });
      await answers("a.com", "red again");
      await answers("c.com", "404");
    });

    await scene.step("answers requests for other hosts as before meanwhile", async () => {
      assert.deepEqual(traffic.failures(), []);
      assert.deepEqual([...new Set(traffic.lastBackends(1_000))], ["green"]);
      const rejected = await admin.stats("update_rejected$");
      assert.deepEqual(
        [...rejected].filter(([, count]) => count > 0),
        [],
      );
    });
  });
}
