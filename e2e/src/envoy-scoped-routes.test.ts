import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { answering, listener, typeUrl } from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { setStage } from "./harness/peers/stage.js";
import { get, startTraffic } from "./harness/traffic/traffic.js";

const scope = (name: string, key: string, routes: string): ResourceText => ({
  "@type": typeUrl("envoy.config.route.v3.ScopedRouteConfiguration"),
  name,
  route_configuration_name: routes,
  key: { fragments: [{ string_key: key }] },
});

const routes = (name: string, body: string): ResourceText => ({
  "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
  name,
  virtual_hosts: [answering("all", body)],
});

for (const variant of someVariants) {
  test(`Envoy's scoped routes, ${variant}`, { timeout: 60_000 }, async (t) => {
    const stage = await setStage(t, {
      variant,
      service: "scoped-route",
      files: ({ port, source }) => ({
        "listeners.yaml": [
          listener({
            name: "ingress",
            port,
            routes: {
              scoped_routes: {
                name: "scopes",
                scope_key_builder: {
                  fragments: [{ header_value_extractor: { name: "x-scope", element_separator: ",", index: 0 } }],
                },
                rds_config_source: source,
                scoped_rds: { scoped_rds_config_source: source },
              },
            },
          }),
        ],
        "scopes.yaml": [scope("first", "a", "red"), scope("second", "b", "green")],
        "routes.yaml": [routes("red", "red"), routes("green", "green"), routes("blue", "blue")],
      }),
    });
    if (stage === undefined) return;
    const { scene, folder, admin, port } = stage;
    /** What a request with that scope is answered with. */
    const answer = async (key: string): Promise<string> => {
      const { status, body } = await get(port, { headers: { "x-scope": key } });
      return status === 200 ? body : String(status);
    };
    const answers = (key: string, expected: string): Promise<unknown> =>
      eventually(`scope ${key} answered by ${expected}`, async () => {
        assert.equal(await answer(key), expected);
        return true;
      });
    const traffic = startTraffic(scene, port, { headers: { "x-scope": "b" } });

    await scene.step("finds the routes by the request's key", async () => {
      await answers("a", "red");
      await answers("b", "green");
      assert.equal(await answer("c"), "404");
    });

    await scene.step("takes a scope whose routes are others, and one whose key is another", async () => {
      await folder.put({ "scopes.yaml": [scope("first", "a", "blue"), scope("second", "b", "green")] });
      await answers("a", "blue");
      await folder.put({ "scopes.yaml": [scope("first", "c", "blue"), scope("second", "b", "green")] });
      await answers("c", "blue");
      assert.equal(await answer("a"), "404");
    });

    await scene.step("takes changed routes of a scope", async () => {
      await folder.put({
        "routes.yaml": [routes("red", "red"), routes("green", "green"), routes("blue", "dark blue")],
      });
      await answers("c", "dark blue");
    });

    await scene.step("takes a scope that comes and one that goes", async () => {
      await folder.put({ "scopes.yaml": [scope("second", "b", "green"), scope("third", "a", "red")] });
      await answers("a", "red");
      await answers("c", "404");
    });

    await scene.step("answers requests for other scopes as before meanwhile", async () => {
      assert.deepEqual(traffic.failures(), []);
      assert.deepEqual([...new Set(traffic.lastBackends(1_000))], ["green"]);
      await traffic.stop();
    });

    await scene.step("takes scopes again after all of them went", async () => {
      await folder.put({ "scopes.yaml": [] });
      await answers("b", "404");
      await folder.put({ "scopes.yaml": [scope("second", "b", "green")] });
      await answers("b", "green");
      const rejected = await admin.stats("update_rejected$");
      assert.deepEqual(
        [...rejected].filter(([, count]) => count > 0),
        [],
      );
    });
  });
}
