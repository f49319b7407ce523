import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type ResourceType, resourceTypes } from "@xdskit/api";
import { assignment, oddCluster, responseBytes } from "../../../client/src/testing/odd/odd-responses.js";
import { createOddServer, type OddServer } from "../../../client/src/testing/odd/odd-server.js";
import type { ServerSettingsInFull } from "../groups/upstream/upstream-types.js";
import type { Relay } from "../relay.js";
import type { RelayedGroup, RelayOptions } from "../relay-options.js";
import { becomes, cluster, quick, resourcesOf, type Stage, see, seeOne, withStage } from "../testing/relayed.js";

const typeOf = (name: string) => resourceTypes.find(name)!;
const listener = { "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name: "l", apiListener: {} };

/** Until the relay has what the origin has of a type, and has said so. */
async function settled(relay: Relay, type: ResourceType): Promise<void> {
  const [group] = relay.groups;
  await becomes(() => {
    const status = group?.client.status()[0]?.types.find((each) => each.type === type);
    return status?.isWhole === true && status.version !== undefined;
  }, true);
}

const upstreams: readonly ((at: { readonly address: string; readonly rest: string }) => ServerSettingsInFull)[] = [
  ({ address }) => ({ kind: "grpc", variant: "sotw", address }),
  ({ address }) => ({ kind: "grpc", variant: "sotw", aggregated: false, address }),
  ({ address }) => ({ kind: "grpc", variant: "sotw", api: "v2", address }),
  ({ rest }) => ({ kind: "rest", url: `http://${rest}`, refreshDelayMs: 20 }),
];

describe("a relay that starts with a cache, at an xdskit origin of the state of the world", () => {
  for (const upstream of upstreams) {
    const { address: _, url: __, ...how } = { address: "", url: "", ...upstream({ address: "", rest: "" }) };
    it(`gets nothing before something changes, and its clients are served: ${JSON.stringify(how)}`, () =>
      withStage(async ({ origin, relay, client, directory }) => {
        const { server, ...at } = await origin();
        server.config.set(resourcesOf(cluster("a"), cluster("b"), listener));
        const options = { cache: join(directory, "cache") };
        const before = await relay(upstream(at), options);
        for (const type of ["cluster", "listener"]) await settled(before.relay, typeOf(type));
        await before.relay.close({ timeoutMs: 100 });
        const sent = () => new Map(server.stats().types.map(({ type, responses }) => [type, responses]));
        const first = sent();

        const asked = new Set<string>();
        server.on((event) => event.kind === "subscribed" && asked.add(event.type.name));
        const waiting = () => server.stats().polls.reduce((sum, { parked }) => sum + parked, 0);
        const after = await relay(upstream(at), options);
        const edge = client(after.address);
        const [clusters, listeners] = [see(edge, "cluster"), see(edge, "listener")];
        await becomes(() => [clusters.names(), listeners.names()], ["a,b", "l"]);
        await becomes(() => asked.size === 2 || waiting() === 2, true);
        assert.deepEqual(sent(), first);
        server.config.update({ upsert: resourcesOf({ ...listener, name: "m" }) });
        await becomes(listeners.names, "l,m");
        assert.equal(sent().get("cluster"), first.get("cluster"));
        server.config.update({ upsert: resourcesOf(cluster("c")) });
        await becomes(clusters.names, "a,b,c");
      }));
  }
});

/** A server that answers nobody who says that he has its version, whatever he asks for. */
interface Versioned {
  readonly server: OddServer;
  version: string;
  clusters: readonly string[];
  /** Sends what there is now of some names, or of all clusters. */
  push(type: string, names?: readonly string[]): void;
}

async function withVersioned(run: (origin: Versioned, stage: Stage) => Promise<void>): Promise<void> {
  const answer = (typeUrl: string, names: readonly string[]) => {
    const { version, clusters } = origin;
    if (typeUrl === typeOf("endpoint").typeUrl)
      return responseBytes("sotw", { version, typeUrl, assignments: names.map(assignment) });
    const asked = clusters.filter((each) => names.length === 0 || names.includes(each));
    return responseBytes("sotw", { version, clusters: asked.map((each) => oddCluster(each, version)) });
  };
  const server = await createOddServer(async (stream) => {
    for (let request = await stream.nextIfAny(); request !== undefined; request = await stream.nextIfAny())
      if (request.version !== origin.version && request.error === "")
        stream.send(answer(request.typeUrl, request.names));
  });
  const origin: Versioned = {
    server,
    version: "7",
    clusters: ["a", "b"],
    push: (type, names = []) => server.streams.at(-1)?.send(answer(typeOf(type).typeUrl, names)),
  };
  try {
    await withStage((stage) => run(origin, stage));
  } finally {
    await server.close();
  }
}

const all: RelayedGroup = {
  name: "all",
  layer: "upstream",
  node: { id: "relay" },
  prefetch: false,
  collections: [{ type: typeOf("cluster"), name: "*" }],
};
const byName: RelayedGroup = { ...all, collections: [] };

/** Starts a relay of an origin, always with the same cache. */
function start({ server }: Versioned, { relay, directory }: Stage, more: Partial<RelayOptions> = {}) {
  const upstream = { kind: "grpc", variant: "sotw", address: server.address } as const;
  return relay(upstream, { cache: join(directory, "cache"), groups: [all], ...more });
}

/** Starts a relay that is asked for names alone, and ends it once it has them. */
async function askOnce(origin: Versioned, stage: Stage, type: string, ...names: readonly string[]): Promise<void> {
  const { relay, address } = await start(origin, stage, { groups: [byName] });
  const edge = stage.client(address);
  const seen = names.map((name) => seeOne(edge, type, name, () => name));
  await becomes(() => seen.map((each) => each()).join(), names.join());
  await settled(relay, typeOf(type));
  await relay.close({ timeoutMs: 100 });
}

/** The first request of a type on the stream with a number. */
async function firstOn({ server }: Versioned, stream: number, type: string) {
  const find = () => server.streams[stream - 1]?.requests.find(({ typeUrl }) => typeUrl === typeOf(type).typeUrl);
  await becomes(() => find() !== undefined, true);
  const { version, names, nonce } = find()!;
  return { version, names, nonce };
}

const whole = { version: "7", names: [], nonce: "" };
const nothing = { version: "", names: [], nonce: "" };

describe("the first request of a relay that starts with a cache", () => {
  it("has the version of all clusters, and a server that compares it sends nothing before it has another one", () =>
    withVersioned(async (origin, stage) => {
      const before = await start(origin, stage);
      await settled(before.relay, typeOf("cluster"));
      await before.relay.close({ timeoutMs: 100 });
      const { address } = await start(origin, stage);
      assert.deepEqual(await firstOn(origin, 2, "cluster"), whole);
      const { names } = see(stage.client(address), "cluster");
      await becomes(names, "a,b");
      assert.equal(origin.server.streams.at(-1)?.requests.length, 1);
      origin.version = "8";
      origin.clusters = ["b", "c"];
      origin.push("cluster");
      await becomes(names, "b,c");
    }));

  it("has the version of names if the relay holds all of them", () =>
    withVersioned(async (origin, stage) => {
      await askOnce(origin, stage, "endpoint", "a");
      await askOnce(origin, stage, "endpoint", "a");
      assert.deepEqual(await firstOn(origin, 2, "endpoint"), { version: "7", names: ["a"], nonce: "" });
      assert.equal(origin.server.streams[1]?.requests.length, 1);
    }));

  it("has no version if a name is new, or was not asked for when the version came", () =>
    withVersioned(async (origin, stage) => {
      await askOnce(origin, stage, "endpoint", "a", "b");
      origin.version = "8";
      await askOnce(origin, stage, "endpoint", "c");
      assert.deepEqual(await firstOn(origin, 2, "endpoint"), { version: "", names: ["c"], nonce: "" });
      // The relay still keeps what it had of the others.
      await askOnce(origin, stage, "endpoint", "a");
      assert.deepEqual(await firstOn(origin, 3, "endpoint"), { version: "", names: ["a"], nonce: "" });
    }));

  it("has no version if clusters were asked for by name before", () =>
    withVersioned(async (origin, stage) => {
      await askOnce(origin, stage, "cluster", "a");
      const { address } = await start(origin, stage);
      assert.deepEqual(await firstOn(origin, 2, "cluster"), nothing);
      await becomes(see(stage.client(address), "cluster").names, "a,b");
    }));

  it("has no version if a part of the last response was rejected", () =>
    withVersioned(async (origin, stage) => {
      const checks = { cluster: (_: unknown, { name }: { name: string }) => (name === "bad" ? "no" : undefined) };
      const before = await start(origin, stage, { client: { ...quick, checks } });
      await settled(before.relay, typeOf("cluster"));
      origin.version = "8";
      origin.clusters = ["a", "bad"];
      origin.push("cluster");
      await becomes(() => origin.server.streams[0]?.requests.at(-1)?.error !== "", true);
      await before.relay.close({ timeoutMs: 100 });
      await start(origin, stage);
      assert.deepEqual(await firstOn(origin, 2, "cluster"), nothing);
    }));

  it("has no version if the node has other metadata", () =>
    withVersioned(async (origin, stage) => {
      const before = await start(origin, stage);
      await settled(before.relay, typeOf("cluster"));
      await before.relay.close({ timeoutMs: 100 });
      await start(origin, stage, { groups: [{ ...all, node: { id: "relay", metadata: { tier: "two" } } }] });
      assert.deepEqual(await firstOn(origin, 2, "cluster"), nothing);
    }));

  it("has no version of names that the server of an authority gave", () =>
    withVersioned(async (origin, stage) => {
      const name = "xdstp://x/envoy.config.endpoint.v3.ClusterLoadAssignment/b";
      await withVersioned(async ({ server: { address } }) => {
        const servers = [{ kind: "grpc", variant: "sotw", address }] as const;
        const client = { ...quick, authorities: { x: { servers } } };
        const { relay, address: at } = await start(origin, stage, { groups: [byName], client });
        const edge = stage.client(at);
        const seen = ["a", name].map((each) => seeOne(edge, "endpoint", each, () => each));
        await becomes(() => seen.map((each) => each()).join(), `a,${name}`);
        await settled(relay, typeOf("endpoint"));
        await relay.close({ timeoutMs: 100 });
      });
      await askOnce(origin, stage, "endpoint", name);
      assert.deepEqual(await firstOn(origin, 2, "endpoint"), { version: "", names: [name], nonce: "" });
    }));

  it("has no version at another origin, although that one counts in the same way", () =>
    withVersioned(async (origin, stage) => {
      const before = await start(origin, stage);
      await settled(before.relay, typeOf("cluster"));
      await before.relay.close({ timeoutMs: 100 });
      await withVersioned(async (other) => {
        other.clusters = ["c"];
        const { address } = await start(other, stage);
        assert.deepEqual(await firstOn(other, 1, "cluster"), nothing);
        await becomes(see(stage.client(address), "cluster").names, "c");
      });
    }));
});
