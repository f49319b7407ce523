import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Resource, resourceTypes } from "@xdskit/api";
import type { OnDemandOptions, SupplyRequest } from "@xdskit/server";
import type { RelayedGroup } from "./relay-options.js";
import {
  becomes,
  cluster,
  clusterOf,
  endpoints,
  resourcesOf,
  route,
  type Stage,
  see,
  seeOne,
  seeRoutes,
  withStage,
} from "./testing/relayed.js";

const holdMs = 1_000;

/** Asks for all clusters, and for all that they and the routes of clients name. */
const group: RelayedGroup = {
  name: "all",
  layer: "upstream",
  node: { id: "relay" },
  prefetch: true,
  collections: [{ type: resourceTypes.find("cluster")!, name: "*" }],
};

/** An origin that looks up endpoints, and answers for each name when the test says what there is. */
class Directory {
  readonly #asked = new Map<string, (found: Resource | undefined) => void>();
  readonly #known = new Map<string, Resource | undefined>();

  readonly onDemand: OnDemandOptions = {
    types: ["endpoint"],
    supply: ({ name }: SupplyRequest) =>
      this.#known.has(name)
        ? Promise.resolve(this.#known.get(name))
        : new Promise((resolve) => this.#asked.set(name, resolve)),
  };

  isAsked(name: string): boolean {
    return this.#asked.has(name);
  }

  answer(name: string, port?: number): void {
    const [found] = port === undefined ? [] : resourcesOf(endpoints(name, port));
    this.#known.set(name, found);
    this.#asked.get(name)?.(found);
  }
}

const world = (name: string) => resourcesOf(cluster(name), route("r", name));

async function relayed({ origin, relay, client }: Stage) {
  const directory = new Directory();
  const { server, address } = await origin({ onDemand: directory.onDemand });
  directory.answer("old", 1);
  server.config.set(world("old"));
  const { address: at } = await relay({ kind: "grpc", address }, { groups: [group], holdMs });
  const seen = seeRoutes(client(at), ["r"]);
  await becomes(() => [seen.clusters(), seen.targets()], ["old", "old"]);
  server.config.set(world("new"));
  await becomes(() => directory.isAsked("new"), true);
  return { directory, server, address, seen, now: () => [seen.clusters(), seen.targets()] };
}

describe("a member of a collection that is asked for as a whole", () => {
  const clusters = "xdstp://a/envoy.config.cluster.v3.Cluster/d/*";
  const members = "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/d/*";
  const collections = [
    { type: resourceTypes.find("cluster")!, name: clusters },
    { type: resourceTypes.find("locality-endpoint")!, name: members },
  ];
  const foo = clusters.replace("*", "foo");
  const member = {
    "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
    name: members.replace("*", "one"),
    resource: {
      "@type": "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
      endpoint: { address: { socketAddress: { address: "127.0.0.1", portValue: 1 } } },
    },
  };
  const byGlob = {
    ...endpoints("e"),
    endpoints: [{ ledsClusterLocalityConfig: { ledsConfig: { ads: {} }, ledsCollectionName: members } }],
  };

  it("stays when nothing names it or its collection any more", () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, address } = await origin();
      const whole = [{ ...cluster(foo), type: "STATIC", edsClusterConfig: undefined }, member];
      server.config.set(resourcesOf(...whole, byGlob, route("r", foo)));
      const groups = [{ ...group, collections }];
      const { relay: relayed, address: at } = await relay({ kind: "grpc", address }, { groups, holdMs: 0 });
      const edge = client(at);
      const target = seeOne(edge, "route", "r", clusterOf);
      const localities = seeOne(edge, "endpoint", "e", ({ endpoints }: { endpoints: object[] }) => endpoints.length);
      await becomes(() => [target(), localities()], [foo, 1]);
      server.config.set(resourcesOf(...whole, endpoints("e"), route("r", "other")));
      await becomes(() => [target(), localities()], ["other", 0]);
      const served = collections.flatMap(({ type }) => [...(relayed.server.snapshotOf("all")?.of(type) ?? [])]);
      assert.deepEqual(
        served.map(({ name }) => name),
        [foo, member.name],
      );
    }));
});

describe("a relay that starts with its cache while the origin is away", () => {
  it("serves it at once, even if something that it names is not in it", () =>
    withStage(async ({ origin, relay, client, directory }) => {
      const cache = join(directory, "cache");
      const { server, address } = await origin();
      const members = "xdstp://here/envoy.config.endpoint.v3.LbEndpoint/c/*";
      const byGlob = {
        ...endpoints("c"),
        endpoints: [{ ledsClusterLocalityConfig: { ledsConfig: { ads: {} }, ledsCollectionName: members } }],
      };
      const clusters = ["a", "b", "c"].map((name) => cluster(name));
      server.config.set(resourcesOf(...clusters, endpoints("a", 1), byGlob));
      const options = { groups: [group], cache };
      const before = await relay({ kind: "grpc", address }, options);
      await before.relay.close({ timeoutMs: 100 });
      await server.close({ timeoutMs: 100 });
      await rm(join(cache, "all", "locality-endpoint.pb"), { force: true });
      const began = performance.now();
      const after = await relay({ kind: "grpc", address }, options);
      const took = performance.now() - began;
      assert.ok(took < 5_000, `it took ${took} ms`);
      const there = after.relay.server.snapshotOf("all")?.of(resourceTypes.find("endpoint")!);
      assert.deepEqual(
        Array.from(there ?? [], ({ name }) => name),
        ["a", "c"],
      );
      await becomes(see(client(after.address), "cluster").names, "a,b,c");
    }));
});

describe("a cluster whose endpoints the relay has asked for", () => {
  it("is served once they are there, and no route leads to it before", () =>
    withStage(async (stage) => {
      const { directory, now } = await relayed(stage);
      await delay(200);
      assert.deepEqual(now(), ["old", "old"]);
      directory.answer("new", 2);
      await becomes(now, ["new", "new"]);
    }));

  it("is served without them once the origin says that there are none", () =>
    withStage(async (stage) => {
      const { directory, now } = await relayed(stage);
      const began = performance.now();
      directory.answer("new");
      await becomes(now, ["new", "new"]);
      assert.ok(performance.now() - began < holdMs, "it did not wait for the end of its time");
    }));

  it("waits while the origin is away, longer than it waits otherwise", () =>
    withStage(async (stage) => {
      const { directory, server, address, now } = await relayed(stage);
      await server.close({ timeoutMs: 0 });
      await delay(2 * holdMs);
      assert.deepEqual(now(), ["old", "old"]);
      const back = await stage.origin({ onDemand: directory.onDemand }, address);
      back.server.config.set(world("new"));
      await delay(200);
      assert.deepEqual(now(), ["old", "old"]);
      directory.answer("new", 2);
      await becomes(now, ["new", "new"]);
    }));

  it("is served when its time is over", () =>
    withStage(async (stage) => {
      const { now } = await relayed(stage);
      await becomes(now, ["new", "new"]);
      const told = stage.findings.map(({ message }) => message).join("\n");
      assert.match(told, /it names endpoint "new", which the origin did not send within 1 s: it is served now without/);
    }));
});
