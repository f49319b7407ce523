import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_EdsClusterConfigSchema,
  ClusterSchema,
} from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  AggregatedConfigSourceSchema,
  ApiVersion,
  ConfigSourceSchema,
} from "@xdskit/api/envoy/config/core/v3/config_source";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { FilterChainSchema, FilterSchema } from "@xdskit/api/envoy/config/listener/v3/listener_components";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  HttpConnectionManagerSchema,
  RdsSchema,
} from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { createServer, type ServerOptions, type XdsServer } from "@xdskit/server";
import { parseAddress } from "@xdskit/server/address";
import { waitFor, within } from "../../../grpc-server/src/testing/wait-for.js";
import { usualFleet } from "../testing/usual-fleet.js";
import { Fleet } from "./fleet.js";
import type { FleetOptions } from "./fleet-options.js";
import { readInterests } from "./interests.js";

const ads = create(ConfigSourceSchema, {
  configSourceSpecifier: { case: "ads", value: create(AggregatedConfigSourceSchema) },
  resourceApiVersion: ApiVersion.V3,
});

/** A cluster whose load assignment has another name. */
function cluster(name: string, altStatName = ""): Cluster {
  const edsClusterConfig = create(Cluster_EdsClusterConfigSchema, { edsConfig: ads, serviceName: `${name}-service` });
  const clusterDiscoveryType = { case: "type", value: Cluster_DiscoveryType.EDS } as const;
  return create(ClusterSchema, { name, altStatName, clusterDiscoveryType, edsClusterConfig });
}

const assignment = (name: string) => create(ClusterLoadAssignmentSchema, { clusterName: `${name}-service` });

function listener(name: string, route: string) {
  const rds = create(RdsSchema, { configSource: ads, routeConfigName: route });
  const manager = create(HttpConnectionManagerSchema, { routeSpecifier: { case: "rds", value: rds }, statPrefix: "a" });
  const configType = { case: "typedConfig", value: anyPack(HttpConnectionManagerSchema, manager) } as const;
  const filters = [create(FilterSchema, { name: "http", configType })];
  return create(ListenerSchema, { name, filterChains: [create(FilterChainSchema, { filters })] });
}

const route = (name: string) => create(RouteConfigurationSchema, { name });

/** Three clusters with their load assignments, a listener and its routes: 8 resources in 4 types. */
const everything = [
  ...["a", "b", "c"].flatMap((name) => [cluster(name), assignment(name)]),
  listener("l", "r"),
  route("r"),
  route("nobody-names-it"),
];
const resourcesEach = 8;

interface Played {
  readonly server: XdsServer;
  readonly fleet: Fleet;
}

/** Plays a fleet against a server with all of `everything`, once everything is held. */
async function play(
  options: Partial<FleetOptions>,
  run: (played: Played) => Promise<void>,
  serverOptions: ServerOptions = {},
): Promise<void> {
  const server = createServer(serverOptions);
  let fleet: Fleet | undefined;
  try {
    server.config.set(everything);
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const address = parseAddress(grpc);
    assert.ok(address);
    const all = { ...usualFleet, servers: [address], ...options };
    fleet = new Fleet(all, readInterests(all));
    fleet.start();
    const { tally } = fleet;
    await within("all hold everything", fleet.allComplete).catch((error) =>
      assert.fail(`${error.message}: ${JSON.stringify([tally.received, tally.errors()])}`),
    );
    await run({ server, fleet });
    assert.deepEqual(tally.errors(), []);
  } finally {
    fleet?.close();
    await server.close({ timeoutMs: 500 });
  }
}

for (const variant of ["sotw", "delta"] as const) {
  for (const ads of [true, false]) {
    describe(`a fleet, ${variant}, ${ads ? "ADS" : "per type"}`, () => {
      it("asks by name for the references of resources, and holds all of them once", () =>
        play({ variant, ads }, async ({ server, fleet }) => {
          const { received, streams, changes } = fleet.tally;
          assert.deepEqual(
            fleet.nodes.map(({ current }) => current.map(({ type, size }) => `${type.name} ${size}`).join()),
            fleet.nodes.map(() => "cluster 3,endpoint 3,listener 1,route 1"),
          );
          assert.equal(received.resources, 12 * resourcesEach);
          assert.equal(received.messages, 12 * 4);
          assert.equal(streams.opened, 12 * (ads ? 1 : 4));
          // They hold the same, so they share it.
          assert.equal(new Set(fleet.nodes.flatMap(({ current }) => current)).size, 4);

          server.config.update({ upsert: [cluster("d"), assignment("d")] });
          await waitFor("all follow a new cluster to its load assignment", () =>
            fleet.nodes.every(({ current }) => current[0]?.size === 4 && current[1]?.size === 4),
          );
          server.config.update({ remove: [{ type: "cluster", name: "a" }] });
          await waitFor("nobody holds what nobody names any more", () =>
            fleet.nodes.every(({ current }) => current[0]?.size === 3 && current[1]?.size === 3),
          );
          assert.ok(changes.count >= 3, `${changes.count}`);
          for (const { nodes } of changes.report(0).newest) assert.equal(nodes, 12);
        }));

      it("claims its resources when it connects again, and still gets every change", () =>
        play({ variant, ads, nodes: 6 }, async ({ server, fleet }) => {
          const { received, connections } = fleet.tally;
          fleet.churn(6);
          await waitFor(
            "all are back",
            () => connections.opened === 12 && fleet.nodes.every((node) => node.isConnected),
          );
          for (const name of ["changed", "changed again"]) {
            const [first] = fleet.nodes;
            const before = first?.current[0];
            server.config.update({ upsert: [cluster("a", name)] });
            await waitFor(`all have what ${name}`, () =>
              fleet.nodes.every(({ current }) => current[0] !== before && current[0] === first?.current[0]),
            );
          }
          // Delta: nothing that was claimed. SotW: no server knows which names such a version is of.
          if (variant === "delta") assert.equal(received.again, 0);
          else assert.ok(received.again <= 6 * 4, `${received.again}`);
        }));
    });
  }

  it(`a fleet with --reject rejects each change once, and takes the next: ${variant}`, () =>
    play({ variant, nodes: 8, reject: 0.25 }, async ({ server, fleet }) => {
      const rejected: string[] = [];
      server.on((event) => {
        if (event.kind === "rejected") rejected.push(event.message);
      });
      server.config.update({ upsert: [cluster("a", "changed")] });
      await waitFor("two reject", () => fleet.tally.sent.rejections === 2);
      await waitFor("the server knows", () => rejected.length === 2);
      assert.match(rejected[0] ?? "", /on purpose/);
      const takers = () => fleet.tally.changes.report(0).newest[0]?.nodes;
      await waitFor("six take it", () => takers() === 6);
      assert.equal(fleet.tally.sent.rejections, 2);
      assert.equal(new Set(fleet.nodes.map(({ current }) => current[0])).size, 2);
    }));

  it(`a fleet with --stall stops reading, and then gets the missed changes: ${variant}`, () =>
    play({ variant, nodes: 8, stall: 0.25 }, async ({ server, fleet }) => {
      assert.equal(fleet.stall(false), 2);
      const reading = () => fleet.nodes.filter((node) => node.isReading);
      assert.equal(reading().length, 6);
      const before = fleet.nodes[0]?.current[0];
      server.config.update({ upsert: [cluster("a", "changed")] });
      await waitFor("six have it", () => reading().every(({ current }) => current[0] !== before));
      assert.equal(new Set(fleet.nodes.map(({ current }) => current[0])).size, 2);
      fleet.stall(true);
      await waitFor("all have it", () => new Set(fleet.nodes.map(({ current }) => current[0])).size === 1);
      assert.equal(fleet.times.resume.count, 2);
    }));
}

it("a fleet may have several groups, each with its own resources and node ids from a template", () => {
  const match = (group: number) => ({ cluster: `edge-${group}`, "locality.zone": "z1", "metadata.stage": `s${group}` });
  const groups = [0, 1, 2].map((group) => ({ name: `g${group}`, match: match(group), layers: [`g${group}`] }));
  const server = createServer({ groups });
  const names = (node: Fleet["nodes"][number]) => node.current[0]?.size;
  return (async () => {
    let fleet: Fleet | undefined;
    try {
      for (const group of [0, 1, 2]) {
        const clusters = Array.from({ length: group + 1 }, (_, index) => create(ClusterSchema, { name: `c${index}` }));
        server.config.layer(`g${group}`).set(clusters);
      }
      const address = parseAddress((await server.listen({ grpc: "127.0.0.1:0" })).grpc);
      assert.ok(address);
      const options: FleetOptions = {
        ...usualFleet,
        servers: [address],
        nodes: 9,
        groups: 3,
        nodesPerConnection: 2,
        types: ["cds"],
        nodeCluster: "edge-{g}",
        locality: "r/z1",
        metadata: { stage: "s{g}" },
      };
      fleet = new Fleet(options, readInterests(options));
      fleet.start();
      await within("all hold everything", fleet.allComplete);
      assert.deepEqual(fleet.nodes.map(names), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
      assert.equal(fleet.carriers.length, 5);
      assert.deepEqual(fleet.tally.errors(), []);
    } finally {
      fleet?.close();
      await server.close({ timeoutMs: 500 });
    }
  })();
});

it("a fleet chooses rejecting and stalling nodes from all groups, and different ones", () => {
  const servers = [{ host: "127.0.0.1", port: 1 }];
  for (const [nodes, groups, share] of [
    [40, 2, 0.1],
    [100, 10, 0.1],
    [1_000, 5, 0.05],
    [12, 3, 0.25],
    [7, 1, 0.3],
  ] as const) {
    const options: FleetOptions = { ...usualFleet, servers, nodes, groups, reject: share, stall: share };
    const fleet = new Fleet(options, readInterests(options));
    for (const role of ["rejects", "stalls"] as const) {
      const numbers = fleet.nodes.flatMap((node) => (node.role[role] ? [node.role.number] : []));
      assert.equal(numbers.length, Math.round(share * nodes));
      const seen = new Set(numbers.map((number) => number % groups)).size;
      assert.equal(seen, Math.min(groups, numbers.length), `${role}, ${groups} groups: ${numbers}`);
    }
    assert.ok(!fleet.nodes.some(({ role }) => role.rejects && role.stalls));
    fleet.close();
  }
});
