import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource } from "@xdskit/api";
import { manualClock } from "../testing/manual-clock.js";
import { ads, type TypeName, urlOf, withMemoryServer } from "../testing/running-server.js";
import { edsCluster, loadAssignment, routeConfiguration, routedListener } from "../testing/test-resources.js";
import { delta } from "../testing/xds-client.js";

/** An Envoy on delta that knows what its server never heard of. */
describe("a client that comes back with clusters that no server knows", () => {
  it("keeps the clusters of its route until it has the new route, though it asks for clusters last", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      server.config.update({
        upsert: [
          edsCluster("c25", "s25"),
          loadAssignment("s25", 25),
          routeConfiguration("routes", "c25"),
          routedListener("ingress", "routes"),
        ],
      });
      const stream = client.open(ads("delta"));
      const talk = delta(stream);
      const told: string[] = [];
      const say = (type: TypeName, more: object) => talk.send({ node: { id: "envoy" }, typeUrl: urlOf(type), ...more });
      /** Takes what comes, acknowledges it, and asks for the endpoints of clusters as Envoy does. */
      const take = async () => {
        for (let rounds = 0; rounds < 20; rounds += 1) {
          for (let times = 0; times < 5; times += 1) await new Promise((resolve) => setImmediate(resolve));
          while (talk.count > told.length) {
            const { typeUrl, nonce, resources, removedResources } = await talk.next();
            const type = (["cluster", "endpoint", "listener", "route"] as const).find((one) => urlOf(one) === typeUrl);
            const names = [...resources.map(({ name }) => name), ...removedResources.map((name) => `-${name}`)];
            told.push(`${type} ${names.join(" ")}`);
            say(type ?? "cluster", { responseNonce: nonce });
            if (type !== "cluster") continue;
            const services = (prefix: string, among: readonly string[]) =>
              among.map((name) => name.replace("c", prefix));
            say("endpoint", {
              resourceNamesSubscribe: services(
                "s",
                resources.map(({ name }) => name),
              ),
              resourceNamesUnsubscribe: services("s", removedResources),
            });
          }
          clock.advance(100);
        }
      };
      const { version } = createResource(routedListener("ingress", "routes"));
      // It waits for the endpoints of c21, and asks for no clusters meanwhile.
      say("endpoint", { resourceNamesSubscribe: ["s20", "s21"], initialResourceVersions: { s20: "20" } });
      say("listener", { initialResourceVersions: { ingress: version } });
      say("route", { resourceNamesSubscribe: ["routes"], initialResourceVersions: { routes: "leads to c20" } });
      await take();
      assert.deepEqual(told, ["endpoint -s21"]);
      say("cluster", { initialResourceVersions: { c20: "20", c21: "21" } });
      await take();
      assert.deepEqual(told.slice(1), ["cluster c25", "endpoint s25", "route routes", "cluster -c20 -c21"]);
    });
  });
});
