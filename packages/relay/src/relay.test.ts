import assert from "node:assert/strict";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DeltaDiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { GrpcServerSettings } from "@xdskit/client";
import { createMemoryTransport } from "@xdskit/server";
import { readCacheFile } from "./cache/cache-file.js";
import type { GroupRelay } from "./groups/group-relay.js";
import type { RelayedGroup } from "./relay-options.js";
import {
  becomes,
  cluster,
  endpoints,
  perishable,
  quick,
  resourcesOf,
  route,
  see,
  seeOne,
  seeRoutes,
  withStage,
} from "./testing/relayed.js";

const clusterType = resourceTypes.find("cluster")!;
const endpointType = resourceTypes.find("endpoint")!;
const ads = { variant: "delta", api: "v3", only: undefined, unary: false } as const;

const groupNamed = (id: string, prefetch = false): readonly RelayedGroup[] => [
  { name: "all", layer: "upstream", node: { id }, collections: [{ type: clusterType, name: "*" }], prefetch },
];

const port = ({ endpoints }: { endpoints: { lbEndpoints: { hostIdentifier: { value: never } }[] }[] }) => {
  const [first] = endpoints.flatMap(({ lbEndpoints }) => lbEndpoints);
  const endpoint = first?.hostIdentifier.value as
    | { address: { address: { value: { portSpecifier: { value: number } } } } }
    | undefined;
  return endpoint?.address.address.value.portSpecifier.value;
};
const assignment = (...[client, name]: [Parameters<typeof seeOne>[0], string]) =>
  seeOne(client, "endpoint", name, port);

const glob = "xdstp://here/envoy.config.endpoint.v3.LbEndpoint/a/*";
const member = (name: string) => ({
  "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
  name: glob.replace("*", name),
  resource: {
    "@type": "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
    endpoint: { hostname: name, address: { socketAddress: { address: "127.0.0.1", portValue: 1 } } },
  },
});
/** The endpoints of a cluster are the members of `glob`. */
const endpointsByGlob = (clusterName: string) => ({
  ...endpoints(clusterName),
  endpoints: [{ ledsClusterLocalityConfig: { ledsConfig: { ads: {} }, ledsCollectionName: glob } }],
});

const upstreams: readonly Omit<GrpcServerSettings, "address">[] = (["sotw", "delta"] as const).flatMap((variant) =>
  [true, false].flatMap((aggregated) => [{ kind: "grpc" as const, variant, aggregated }]),
);

for (const upstream of [...upstreams, { kind: "grpc" as const, variant: "sotw" as const, api: "v2" as const }]) {
  const { variant, aggregated = true, api = "v3" } = upstream;
  test(`resources, changes and removals of an origin reach clients: ${variant}, ${aggregated ? "ADS" : "per type"}, ${api}`, () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, address } = await origin();
      server.config.set(resourcesOf(cluster("a"), cluster("b"), endpoints("a", 1)));
      const relayed = await relay({ ...upstream, address });
      const edge = client(relayed.address);
      const clusters = see(edge, "cluster");
      const ofA = assignment(edge, "a");
      const ofC = assignment(edge, "c");
      await becomes(clusters.names, "a,b");
      await becomes(ofA, 1);
      // Content decides versions: clients cannot tell.
      const direct = see(client(address), "cluster");
      await becomes(direct.names, "a,b");
      assert.deepEqual(clusters.versions(), direct.versions());
      server.config.set(resourcesOf(cluster("a"), cluster("c"), endpoints("a", 2), endpoints("c", 3)));
      await becomes(clusters.names, "a,c");
      await becomes(ofA, 2);
      await becomes(ofC, 3);
    }));
}

test("an origin may be polled over REST", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, rest } = await origin();
    server.config.set(resourcesOf(cluster("a"), endpoints("a", 1)));
    const polled = await relay({ kind: "rest", url: `http://${rest}`, refreshDelayMs: 100 });
    const edge = client(polled.address);
    const clusters = see(edge, "cluster");
    const ofA = assignment(edge, "a");
    await becomes(clusters.names, "a");
    await becomes(ofA, 1);
    server.config.set(resourcesOf(cluster("a"), cluster("b"), endpoints("a", 2)));
    await becomes(clusters.names, "a,b");
    await becomes(ofA, 2);
  }));

test("an origin may be files", () =>
  withStage(async ({ relay, client, directory }) => {
    const path = join(directory, "clusters.json");
    const put = async (...names: readonly string[]) => {
      await writeFile(`${path}.new`, JSON.stringify({ resources: names.map((name) => cluster(name)) }));
      await rename(`${path}.new`, path);
    };
    await put("x");
    const groups = groupNamed("files");
    const read = await relay({ kind: "files", files: [{ type: "cluster", path }] }, { groups });
    const fromFile = see(client(read.address), "cluster");
    await becomes(fromFile.names, "x");
    await put("x", "y");
    await becomes(fromFile.names, "x,y");
  }));

test("a name that does not exist is told at once, and its resource reaches the client once it is there", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a")));
    const relayed = await relay({ kind: "grpc", address });
    const ofA = assignment(client(relayed.address), "a");
    await becomes(ofA, "absent");
    server.config.update({ upsert: resourcesOf(endpoints("a", 7)) });
    await becomes(ofA, 7);
    server.config.remove({ type: "endpoint", name: "a" });
    await becomes(ofA, "absent");
  }));

test("200 clients cost the origin one stream, which asks for each name once", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a"), endpoints("a", 1)));
    const relayed = await relay({ kind: "grpc", address });
    const edges = Array.from({ length: 200 }, (_, index) => client(relayed.address, { node: { id: `edge-${index}` } }));
    const seen = edges.map((edge) => assignment(edge, "a"));
    const clusters = edges.map((edge) => see(edge, "cluster"));
    await becomes(() => seen.every((one) => one() === 1), true);
    await becomes(() => clusters.every((one) => one.names() === "a"), true);
    server.config.update({ upsert: resourcesOf(endpoints("a", 2)) });
    await becomes(() => seen.every((one) => one() === 2), true);
    const open = server.stats().streams.filter((streams) => streams.opened > 0);
    assert.deepEqual(
      open.map(({ service, variant, opened }) => ({ service, variant, opened })),
      [{ service: "ads", variant: "delta", opened: 1 }],
    );
    // One by the wildcard, two by the name.
    assert.equal(server.stats().types.find(({ type }) => type === "endpoint")?.resources, 2);
    assert.equal(relayed.relay.server.stats().nodes, 200);
  }));

test("a relay of a relay shows the same resources at the same versions", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a"), endpoints("a", 1)));
    const near = await relay({ kind: "grpc", address });
    const far = await relay({ kind: "grpc", address: near.address, variant: "sotw" });
    const edge = client(far.address);
    const clusters = see(edge, "cluster");
    const ofA = assignment(edge, "a");
    const ofB = assignment(edge, "b");
    await becomes(clusters.names, "a");
    await becomes(ofA, 1);
    server.config.set(resourcesOf(cluster("a", "2s"), cluster("b"), endpoints("a", 2), endpoints("b", 3)));
    await becomes(clusters.names, "a,b");
    await becomes(ofA, 2);
    await becomes(ofB, 3);
    const direct = see(client(address), "cluster");
    await becomes(direct.names, "a,b");
    assert.deepEqual(clusters.versions(), direct.versions());
  }));

test("clients are served on while the origin is away, and a relay that starts then serves what it kept", () =>
  withStage(async ({ origin, relay, client, directory }) => {
    const first = await origin();
    const all = (extra: readonly object[] = []) =>
      resourcesOf(cluster("a"), cluster("b"), endpoints("a", 1), endpoints("b", 2), ...extra);
    first.server.config.set(all());
    const cache = join(directory, "cache");
    const upstream: GrpcServerSettings = { kind: "grpc", address: first.address };
    const before = await relay(upstream, { cache });
    const ofA = assignment(client(before.address), "a");
    await becomes(ofA, 1);
    await first.server.close({ timeoutMs: 100 });
    await becomes(() => before.relay.groups[0]?.standing.isConnected, false);
    const late = client(before.address);
    const lateA = assignment(late, "a");
    await becomes(lateA, 1);
    await before.relay.close({ timeoutMs: 100 });
    assert.equal((await stat(join(cache, "all", "cluster.pb"))).mode & 0o777, 0o600);

    const after = await relay(upstream, { cache });
    const edge = client(after.address);
    const clusters = see(edge, "cluster");
    const again = assignment(edge, "a");
    await becomes(clusters.names, "a,b");
    await becomes(again, 1);
    assert.ok(after.relay.groups[0]?.standing.isCached);

    // Only what changed comes from an origin that is back.
    const second = await origin({}, first.address);
    second.server.config.set(all([cluster("c")]));
    await becomes(clusters.names, "a,b,c");
    const sent = second.server.stats().types.find(({ type }) => type === "cluster");
    assert.equal(sent?.resources, 1);
    second.server.config.set(resourcesOf(cluster("c"), endpoints("a", 9)));
    await becomes(clusters.names, "c");
    await becomes(again, 9);
  }));

test("a relay that is stopped while its origin is there keeps what its clients asked for by name", () =>
  withStage(async ({ origin, relay, client, directory }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a"), cluster("b"), endpoints("a", 1), endpointsByGlob("b"), member("x")));
    const cache = join(directory, "cache");
    const upstream: GrpcServerSettings = { kind: "grpc", address };
    const before = await relay(upstream, { cache });
    const asks = (at: string) => {
      const edge = client(at);
      const ofA = assignment(edge, "a");
      const ofB = seeOne(edge, "endpoint", "b", () => "there");
      const members = see(edge, "locality-endpoint", glob);
      return () => [ofA(), ofB(), members.names()];
    };
    const all = [1, "there", glob.replace("*", "x")];
    await becomes(asks(before.address), all);
    await before.relay.close({ timeoutMs: 100 });
    await server.close({ timeoutMs: 100 });
    const after = await relay(upstream, { cache });
    await becomes(asks(after.address), all);
  }));

for (const variant of ["sotw", "delta"] as const) {
  test(`an origin that has nothing, or only the cached resources, counts as connected: ${variant}`, () =>
    withStage(async ({ origin, relay, directory }) => {
      const { server, address } = await origin();
      server.config.set([]);
      const upstream: GrpcServerSettings = { kind: "grpc", address, variant };
      const stateOf = (group: GroupRelay | undefined) => group?.standing.state;
      const empty = await relay(upstream);
      await becomes(() => stateOf(empty.relay.groups[0]), "connected");
      server.config.set(resourcesOf(cluster("a")));
      const cache = join(directory, "cache");
      const groups = groupNamed("relay");
      const before = await relay(upstream, { cache, groups });
      await becomes(() => stateOf(before.relay.groups[0]), "connected");
      await before.relay.close({ timeoutMs: 100 });
      const after = await relay(upstream, { cache, groups });
      await becomes(() => stateOf(after.relay.groups[0]), "connected");
      await server.close({ timeoutMs: 100 });
      await becomes(() => stateOf(after.relay.groups[0]) === "connected", false);
    }));
}

test("resources of a rejected response are not cached under the version before", () =>
  withStage(async ({ origin, relay, directory }) => {
    const { server, address } = await origin();
    const upstream: GrpcServerSettings = { kind: "grpc", address, variant: "sotw" };
    const cache = join(directory, "cache");
    const checks = {
      cluster: (_: unknown, { name }: { name: string }) => (name === "bad" ? "no such filter" : undefined),
    };
    const kept = async () => {
      const { version, resources } = readCacheFile(
        await readFile(join(cache, "all", "cluster.pb")),
        clusterType,
        undefined,
      );
      return [version, ...resources.map(({ message }) => `${(message as Cluster).connectTimeout?.seconds}s`)];
    };
    server.config.set(resourcesOf(cluster("a", "1s")));
    const first = await relay(upstream, { cache, client: { ...quick, checks } });
    const ofClusters = () => first.relay.groups[0]?.client.status()[0]?.types.find(({ type }) => type === clusterType);
    await becomes(() => ofClusters()?.isWhole, true);
    await first.relay.close({ timeoutMs: 100 });
    const [version, ...contents] = await kept();
    assert.match(version ?? "", /./);
    assert.deepEqual(contents, ["1s"]);

    const second = await relay(upstream, { cache, client: { ...quick, checks } });
    let rejected = 0;
    second.relay.groups[0]?.client.on(({ kind }) => {
      if (kind === "rejected") rejected += 1;
    });
    server.config.set(resourcesOf(cluster("a", "2s"), cluster("bad")));
    await becomes(() => rejected, 1);
    await second.relay.close({ timeoutMs: 100 });
    // An origin that goes back to that version sends nothing to a client that claims to have it.
    assert.deepEqual(await kept(), ["", "2s"]);
  }));

test("a response that every client rejects is rejected at the origin, with their reasons; by default one that accepts it is enough", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a")));
    const told: string[] = [];
    server.on((event) => {
      if (event.kind === "rejected") told.push(event.message);
    });
    const all = await relay({ kind: "grpc", address }, { ackWaitMs: 20_000 });
    const checks = {
      cluster: (_: unknown, { name }: { name: string }) => (name.startsWith("bad") ? "no such filter" : undefined),
    };
    const strict = see(client(all.address, { node: { id: "strict" }, checks }), "cluster");
    await becomes(strict.names, "a");
    server.config.update({ upsert: resourcesOf(cluster("bad")) });
    await becomes(() => told.length, 1);
    assert.match(told[0] ?? "", /^rejected by 1 of 1 clients: strict: .*no such filter/);

    const lenient = see(client(all.address, { node: { id: "lenient" } }), "cluster");
    await becomes(lenient.names, "a,bad");
    const { done } = server.config.update({ upsert: resourcesOf(cluster("bad-2")) });
    const outcome = await done({ timeout: 20_000 });
    assert.deepEqual([outcome.result, told.length], ["complete", 1]);

    const any = await relay(
      { kind: "grpc", address },
      { nack: "any", ackWaitMs: 20_000, groups: groupNamed("any-relay") },
    );
    const one = see(client(any.address, { node: { id: "strict" }, checks }), "cluster");
    const two = see(client(any.address, { node: { id: "lenient" } }), "cluster");
    await becomes(two.names, "a,bad,bad-2");
    await becomes(one.names, "a");
    server.config.update({ upsert: resourcesOf(cluster("bad-3")) });
    await becomes(() => told.some((text) => text.startsWith("rejected by 1 of 2 clients: strict")), true);
    await becomes(two.names, "a,bad,bad-2,bad-3");
  }));

test("a client that does not answer delays nothing", () =>
  withStage(async ({ origin, relay }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a")));
    const relayed = await relay({ kind: "grpc", address }, { ackWaitMs: 300 });
    const transport = createMemoryTransport();
    const silent = transport.open(await relayed.relay.server.listenOn(transport, "here"), ads, () => {});
    silent.send(
      toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, { node: { id: "n" }, typeUrl: clusterType.typeUrl }),
      ),
    );
    await becomes(() => relayed.relay.server.stats().nodes, 1);
    const outcome = await server.config.update({ upsert: resourcesOf(cluster("b")) }).done({ timeout: 20_000 });
    assert.equal(outcome.result, "complete");
    silent.cancel();
  }));

test("a resource with a TTL lives as long as the origin says, and clients get heartbeats of their own", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin({ ttl: "always" });
    server.config.set(resourcesOf(cluster("a"), perishable("b", "2s", cluster("b"))));
    const relayed = await relay({ kind: "grpc", address }, { server: { ttl: "always" } });
    const clusters = see(client(relayed.address), "cluster");
    await becomes(clusters.names, "a,b");
    await becomes(
      () => (relayed.relay.server.stats().types.find(({ type }) => type === "cluster")?.heartbeats ?? 0) > 4,
      true,
    );
    assert.equal(clusters.names(), "a,b");
    await server.close({ timeoutMs: 100 });
    await becomes(clusters.names, "a");
  }));

test("a resource with a TTL goes when that is over while the origin is away, even if another one names it", () =>
  withStage(async ({ origin, relay, client, findings }) => {
    const { server, address } = await origin({ ttl: "always" });
    server.config.set(resourcesOf(cluster("a"), perishable("b", "2s", cluster("b")), route("r", "b")));
    const relayed = await relay({ kind: "grpc", address }, { server: { ttl: "always" } });
    const seen = seeRoutes(client(relayed.address), ["r"]);
    await becomes(() => [seen.clusters(), seen.targets()], ["a,b", "b"]);
    await server.close({ timeoutMs: 100 });
    await becomes(seen.clusters, "a");
    assert.match(findings.map(({ message }) => message).join(), /its TTL is over, and route "r" still names it/);
  }));

test("a resource with a TTL does not come back with a relay that starts while the origin is away", () =>
  withStage(async ({ origin, relay, client, directory }) => {
    const cache = join(directory, "cache");
    const first = await origin({ ttl: "always" });
    const all = resourcesOf(cluster("a"), perishable("b", "60s", cluster("b")));
    first.server.config.set(all);
    const upstream: GrpcServerSettings = { kind: "grpc", address: first.address };
    const before = await relay(upstream, { cache });
    const served = see(client(before.address), "cluster");
    await becomes(served.names, "a,b");
    await before.relay.close({ timeoutMs: 100 });
    await first.server.close({ timeoutMs: 100 });
    // This holds however long it was stopped: nobody told it about the changes meanwhile.
    const after = await relay(upstream, { cache });
    const again = see(client(after.address), "cluster");
    await becomes(again.names, "a");
    const second = await origin({ ttl: "always" }, first.address);
    second.server.config.set(all);
    await becomes(again.names, "a,b");
  }));

test("collections that resources name are asked for with them", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a"), endpointsByGlob("a"), member("x")));
    const relayed = await relay({ kind: "grpc", address });
    const edge = client(relayed.address);
    let members = "";
    edge.watchCollection("locality-endpoint", glob, {
      onChanged: ({ resources }) => {
        members = [...resources.keys()].sort().join();
      },
    });
    assignment(edge, "a");
    await becomes(() => members, glob.replace("*", "x"));
    server.config.update({ upsert: resourcesOf(member("y")) });
    await becomes(() => members, [glob.replace("*", "x"), glob.replace("*", "y")].join());
  }));

test("prefetch brings everything that is named before a client asks", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(cluster("a"), endpoints("a", 1)));
    const relayed = await relay({ kind: "grpc", address }, { groups: groupNamed("relay", true) });
    const served = () =>
      [...(relayed.relay.server.snapshotOf("all")?.of(endpointType) ?? [])].map(({ name }) => name).join();
    assert.equal(served(), "a");
    server.config.set(resourcesOf(cluster("b"), endpoints("a", 1), endpoints("b", 2)));
    await becomes(served, "b");
    const ofB = assignment(client(relayed.address), "b");
    await becomes(ofB, 2);
  }));

test("each group has an identity of its own at the origin", () =>
  withStage(async ({ origin, relay, client }) => {
    const groups = ["edge", "core"].map((name) => ({ name, match: { cluster: name }, layers: [name] }));
    const { server, address } = await origin({ groups });
    server.config.layer("edge").set(resourcesOf(cluster("e")));
    server.config.layer("core").set(resourcesOf(cluster("c")));
    const relayed = await relay(
      { kind: "grpc", address },
      {
        server: { groups },
        groups: groups.map(({ name }) => ({
          ...groupNamed(`relay-${name}`)[0]!,
          name,
          layer: name,
          node: { id: `relay-${name}`, cluster: name },
        })),
      },
    );
    const edge = see(client(relayed.address, { node: { id: "1", cluster: "edge" } }), "cluster");
    const core = see(client(relayed.address, { node: { id: "2", cluster: "core" } }), "cluster");
    await becomes(edge.names, "e");
    await becomes(core.names, "c");
    assert.equal(server.stats().nodes, 2);
  }));

test("virtual hosts come by the name that was asked for, with their aliases", () =>
  withStage(async ({ origin, relay, client }) => {
    const host = (name: string) => ({
      "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
      name: `r/${name}`,
      aliases: [`r/www.${name}`],
      resource: {
        "@type": "type.googleapis.com/envoy.config.route.v3.VirtualHost",
        name: `r/${name}`,
        domains: [name],
      },
    });
    const { server, address } = await origin();
    server.config.set(resourcesOf(host("a")));
    const relayed = await relay({ kind: "grpc", address });
    const edge = client(relayed.address);
    const domains = ({ domains }: { domains: readonly string[] }) => domains.join();
    const own = seeOne(edge, "virtual-host", "r/a", domains);
    const alias = seeOne(edge, "virtual-host", "r/www.a", domains);
    const missing = seeOne(edge, "virtual-host", "r/b", domains);
    await becomes(() => [own(), alias(), missing()], ["a", "a", "absent"]);
    server.config.update({ upsert: resourcesOf(host("b")) });
    await becomes(missing, "b");
  }));

test("versions in the cache are claimed only to the server that gave them", () =>
  withStage(async ({ origin, relay, client, directory }) => {
    const cache = join(directory, "cache");
    const resources = resourcesOf(cluster("a"), cluster("b"));
    const [one, other] = [await origin(), await origin()];
    one.server.config.set(resources);
    other.server.config.set([...resources, ...resourcesOf(cluster("c"))]);
    const first = await relay({ kind: "grpc", address: one.address }, { cache });
    await first.relay.close({ timeoutMs: 100 });
    const second = await relay({ kind: "grpc", address: other.address }, { cache });
    const clusters = see(client(second.address), "cluster");
    await becomes(clusters.names, "a,b,c");
    assert.equal(other.server.stats().types.find(({ type }) => type === "cluster")?.resources, 3);
  }));

test("while the origin is away, resources are kept that nobody asks for any more", () =>
  withStage(async ({ origin, relay, client }) => {
    const { server, address } = await origin();
    server.config.set(resourcesOf(endpoints("a", 1)));
    // Everything that is left goes at once.
    const relayed = await relay({ kind: "grpc", address }, { lingerMs: 1 });
    const edge = client(relayed.address);
    await becomes(assignment(edge, "a"), 1);
    await server.close({ timeoutMs: 100 });
    await becomes(() => relayed.relay.groups[0]?.standing.isConnected, false);
    await edge.close();
    await becomes(() => relayed.relay.server.stats().onDemand?.dropped, 1);
    await becomes(assignment(client(relayed.address), "a"), 1);
  }));
