import assert from "node:assert/strict";
import { it, suite } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createRegistry, createResource, describe } from "@xdskit/api";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { emptySnapshot, type Node, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import { delta } from "../../../server/src/testing/clients/xds-client.js";
import { ads, openStreams, urlOf, withMemoryServer } from "../../../server/src/testing/running-server.js";
import { OlderEnvoys, warnOfOlderEnvoys } from "./older-envoys.js";

const registry = createRegistry();

function cluster(
  name: string,
  fields: Partial<Pick<Cluster, "statsMatcher" | "perConnectionBufferHighWatermarkTimeout">>,
) {
  return createResource(create(ClusterSchema, { name, ...fields }));
}
/** Of Envoy 1.40. */
const statsMatcher = {
  $typeName: "envoy.config.metrics.v3.StatsMatcher" as const,
  statsMatcher: { case: "rejectAll" as const, value: true },
};

function envoy(id: string, userAgentVersion: string): Node {
  return { id, userAgentName: "envoy", userAgentVersion } as Node;
}

let streams = 0;

function connect(older: OlderEnvoys, group: string, node: Node): number {
  streams += 1;
  older.connected({ id: streams, group, node });
  return streams;
}

/** Two groups whose snapshots a test derives step by step, and what is found. */
function world() {
  const snapshots = new Map<string, Snapshot>();
  const found: string[] = [];
  const older = new OlderEnvoys({
    registry,
    snapshotOf: (group) => snapshots.get(group),
    whereIs: (group, { name }) => ({ file: `${group}/${name}.yaml`, line: 2 }),
    onFound: (finding) => found.push(describe(finding)),
    onFault: (error) => assert.fail(String(error)),
  });
  return {
    older,
    connected: (group: string, node: Node) => connect(older, group, node),
    change(group: string, ...upsert: ReturnType<typeof cluster>[]) {
      snapshots.set(group, updateSnapshot(snapshots.get(group) ?? emptySnapshot(), { upsert }));
      older.groupsChanged();
    },
    /** The findings since the last call. */
    async news(): Promise<readonly string[]> {
      await older.finished();
      return found.splice(0);
    },
  };
}

const isNew = (field: string, since: string, node: string, version: string) =>
  `field "${field}" is new in Envoy ${since}; node "${node}" runs Envoy ${version} [XDSKIT_ENVOY_TOO_OLD]`;

suite("a served resource that is too new for an Envoy", () => {
  it("is reported when such an Envoy of its group connects, once for a group and a version", async () => {
    const { connected, change, news } = world();
    change("edge", cluster("a", { statsMatcher }), cluster("b", { statsMatcher }), cluster("c", {}));
    change("rest", cluster("c", {}));
    assert.deepEqual(await news(), []);
    connected("rest", envoy("r", "1.39.0"));
    connected("edge", envoy("e1", "1.39.2"));
    connected("edge", envoy("e2", "1.39.0"));
    assert.deepEqual(await news(), [`edge/a.yaml:2: cluster "a": ${isNew("stats_matcher", "1.40", "e1", "1.39.2")}`]);
    connected("edge", envoy("e3", "1.36.0"));
    assert.deepEqual(await news(), [`edge/a.yaml:2: cluster "a": ${isNew("stats_matcher", "1.40", "e3", "1.36.0")}`]);
  });

  it("is reported when it comes later, and not again", async () => {
    const { connected, change, news } = world();
    change("edge", cluster("a", {}));
    connected("edge", envoy("e", "1.39.0"));
    assert.deepEqual(await news(), []);
    change("edge", cluster("a", { statsMatcher }));
    assert.deepEqual((await news()).length, 1);
    change("edge", cluster("b", { statsMatcher }));
    assert.deepEqual(await news(), []);
  });

  it("is listed while it is served and such an Envoy is connected", async () => {
    const { older, connected, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    const listed = () => older.findings().map(({ resource }) => resource);
    const first = connected("edge", envoy("e", "1.39.0"));
    const second = connected("edge", envoy("f", "1.39.1"));
    await news();
    assert.deepEqual(listed(), ["a"]);
    change("edge", cluster("a", {}));
    await news();
    assert.deepEqual(listed(), []);
    change("edge", cluster("b", { statsMatcher }));
    assert.deepEqual(await news(), []);
    assert.deepEqual(listed(), ["b"]);
    older.left(first);
    assert.deepEqual(listed(), ["b"]);
    older.left(second);
    assert.deepEqual(listed(), []);
  });

  it("is not reported for the newest Envoys, for Envoys without a known version, and for other clients", async () => {
    const { connected, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    connected("edge", envoy("e", "1.40.0"));
    connected("edge", envoy("e", "2.0.0"));
    connected("edge", envoy("e", ""));
    connected("edge", { ...envoy("g", "1.20.0"), userAgentName: "gRPC Go" });
    assert.deepEqual(await news(), []);
  });

  it("is searched again once Envoys of other versions are gone, however many there were", async () => {
    const { older, connected, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    for (let minor = 0; minor < 150; minor++) {
      older.left(connected("edge", envoy("e", `0.${minor}.0`)));
    }
    await news();
    connected("edge", envoy("e", "1.39.0"));
    assert.equal((await news()).length, 1);
  });

  it("is still found after a fault", async () => {
    let snapshot = updateSnapshot(emptySnapshot(), { upsert: [cluster("a", { statsMatcher })] });
    let broken = true;
    const seen: string[] = [];
    const older = new OlderEnvoys({
      registry,
      snapshotOf: () => snapshot,
      whereIs: () => {
        if (broken) throw new Error("no place");
        return undefined;
      },
      onFound: ({ message }) => seen.push(message),
      onFault: (error) => seen.push(String(error)),
    });
    connect(older, "edge", envoy("e", "1.39.0"));
    await older.finished();
    broken = false;
    snapshot = updateSnapshot(snapshot, { upsert: [cluster("b", { statsMatcher })] });
    older.groupsChanged();
    await older.finished();
    assert.equal(seen.length, 2, seen.join());
    assert.match(seen.join(), /no place,field "stats_matcher"/);
  });

  it("is searched for a bounded number of versions", async () => {
    const { connected, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    for (let minor = 0; minor < 1_000; minor++) connected("edge", envoy("e", `0.${minor}.0`));
    assert.equal((await news()).length, 100);
  });

  it("is found for a group as long as it has such an Envoy, where an edit moves nodes to other groups", () => {
    const groups = (moving: string) => [
      { name: "a", match: { cluster: moving === "a" ? "*" : "nobody" }, layers: ["a"] },
      { name: "b", match: { cluster: "*" }, layers: ["b"] },
    ];
    return withMemoryServer({ groups: groups("a") }, async ({ server, client }) => {
      for (const layer of ["a", "b"]) server.config.layer(layer).set([cluster(`in-${layer}`, { statsMatcher })]);
      const older = warnOfOlderEnvoys(
        server,
        { debug() {}, info() {}, warn() {}, error: (...said) => assert.fail(String(said)) },
        { registry, whereIs: () => undefined },
      );
      const found = async () => {
        await older.finished();
        return ["a", "b"].flatMap((group) => older.findings(group).map(({ resource }) => resource)).join();
      };
      const open = (id: string) => {
        const raw = client.open(ads("delta"));
        const stream = delta(raw);
        stream.send({
          node: {
            id,
            cluster: "c",
            userAgentName: "envoy",
            userAgentVersionType: { case: "userAgentVersion", value: "1.39.0" },
          },
          typeUrl: urlOf("cluster"),
        });
        return { next: () => stream.next(), finish: () => raw.finish() };
      };
      const first = open("n1");
      await first.next();
      assert.equal(await found(), "in-a");
      server.reconfigure({ groups: groups("b") });
      assert.equal(await found(), "in-b");
      const second = open("n2");
      await second.next();
      first.finish();
      await waitFor("the first to be gone", () => openStreams(server) === 1);
      assert.equal(await found(), "in-b");
      second.finish();
      await waitFor("both to be gone", () => openStreams(server) === 0);
      assert.equal(await found(), "");
    });
  });
});
