import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource } from "@xdskit/api";
import { type ManualClock, manualClock } from "../../testing/basics/manual-clock.js";
import type { RawClient } from "../../testing/clients/raw-client.js";
import { delta } from "../../testing/clients/xds-client.js";
import { ads, type Running, type TypeName, types, urlOf, withMemoryServer } from "../../testing/running-server.js";
import { edsCluster, loadAssignment, routeConfiguration, routedListener } from "../../testing/test-resources.js";

const named = (prefix: string, names: readonly string[]) => names.map((name) => `${prefix}${name.slice(1)}`);

/** An Envoy on delta. Its route leads to c20, and it waits for the endpoints of c21, so it asks for no clusters. */
function comesBack(client: RawClient, clock: ManualClock) {
  const talk = delta(client.open(ads("delta")));
  const told: string[] = [];
  let taken = 0;
  const say = (type: TypeName, more: object) => talk.send({ node: { id: "envoy" }, typeUrl: urlOf(type), ...more });
  const take = async () => {
    const { typeUrl, nonce, resources, removedResources } = await talk.next();
    const type = (Object.keys(types) as TypeName[]).find((one) => urlOf(one) === typeUrl) ?? "cluster";
    const names = resources.map(({ name }) => name);
    told.push(`${type} ${[...names, ...removedResources.map((name) => `-${name}`)].join(" ")}`);
    say(type, { responseNonce: nonce });
    const [resourceNamesSubscribe, resourceNamesUnsubscribe] = [named("s", names), named("s", removedResources)];
    if (type === "cluster") say("endpoint", { resourceNamesSubscribe, resourceNamesUnsubscribe });
  };
  const { version } = createResource(routedListener("ingress", "routes"));
  say("endpoint", { resourceNamesSubscribe: ["s20", "s21"], initialResourceVersions: { s20: "20" } });
  say("listener", { initialResourceVersions: { ingress: version } });
  say("route", { resourceNamesSubscribe: ["routes"], initialResourceVersions: { routes: "leads to c20" } });
  return {
    say,
    /** What it was told in the next two seconds; it acknowledges each response at once. */
    async told(): Promise<readonly string[]> {
      for (let rounds = 0; rounds < 20; rounds += 1) {
        for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        while (talk.count > taken) {
          taken += 1;
          await take();
        }
        clock.advance(100);
      }
      return told.splice(0);
    },
  };
}

/** A server that never heard of what the client has. */
function withNewServer(test: (running: Running, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = manualClock();
  return withMemoryServer({ clock }, (running) => {
    const listener = routedListener("ingress", "routes");
    const upsert = [edsCluster("c25", "s25"), loadAssignment("s25", 25), routeConfiguration("routes", "c25"), listener];
    running.server.config.update({ upsert });
    return test(running, clock);
  });
}

describe("a client that comes back with clusters that no server knows", () => {
  it("keeps the clusters of its route until it has the new route, though it asks for clusters last", () =>
    withNewServer(async ({ client }, clock) => {
      const envoy = comesBack(client, clock);
      assert.deepEqual(await envoy.told(), ["endpoint -s21"]);
      envoy.say("cluster", { initialResourceVersions: { c20: "20", c21: "21" } });
      const inOrder = ["cluster c25", "endpoint s25", "route routes", "cluster -c20 -c21"];
      assert.deepEqual(await envoy.told(), inOrder);
    }));

  it("gets endpoints that it waits for as soon as they are there, and its new route only after clusters", () =>
    withNewServer(async ({ client, server }, clock) => {
      const envoy = comesBack(client, clock);
      assert.deepEqual(await envoy.told(), ["endpoint -s21"]);
      server.config.update({ upsert: [loadAssignment("s21", 21)] });
      assert.deepEqual(await envoy.told(), ["endpoint s21"]);
      envoy.say("cluster", { initialResourceVersions: { c20: "20", c21: "21" } });
      const inOrder = ["cluster c25", "endpoint s25", "route routes", "cluster -c20 -c21"];
      assert.deepEqual(await envoy.told(), inOrder);
    }));
});
