import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createRegistry, createResource, describe as inWords } from "@xdskit/api";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { emptySnapshot, type Node, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { OlderEnvoys } from "./older-envoys.js";

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

/** Two groups whose snapshots a test derives step by step, and what is found. */
function world() {
  const snapshots = new Map<string, Snapshot>();
  const found: string[] = [];
  const older = new OlderEnvoys({
    registry,
    snapshotOf: (group) => snapshots.get(group),
    whereIs: (group, { name }) => ({ file: `${group}/${name}.yaml`, line: 2 }),
    onFound: (finding) => found.push(inWords(finding)),
    onFault: (error) => assert.fail(String(error)),
  });
  return {
    older,
    change(group: string, ...upsert: ReturnType<typeof cluster>[]) {
      snapshots.set(group, updateSnapshot(snapshots.get(group) ?? emptySnapshot(), { upsert }));
      older.changed();
    },
    /** The findings since the last call. */
    async news(): Promise<readonly string[]> {
      await older.settled();
      return found.splice(0);
    },
  };
}

const isNew = (field: string, since: string, node: string, version: string) =>
  `field "${field}" is new in Envoy ${since}; node "${node}" runs Envoy ${version} [XDSKIT_ENVOY_TOO_OLD]`;

describe("a served resource that is too new for an Envoy", () => {
  it("is reported when such an Envoy of its group connects, once for a group and a version", async () => {
    const { older, change, news } = world();
    change("edge", cluster("a", { statsMatcher }), cluster("b", { statsMatcher }), cluster("c", {}));
    change("rest", cluster("c", {}));
    assert.deepEqual(await news(), []);
    older.connected("rest", envoy("r", "1.39.0"));
    older.connected("edge", envoy("e1", "1.39.2"));
    older.connected("edge", envoy("e2", "1.39.0"));
    assert.deepEqual(await news(), [`edge/a.yaml:2: cluster "a": ${isNew("stats_matcher", "1.40", "e1", "1.39.2")}`]);
    older.connected("edge", envoy("e3", "1.36.0"));
    assert.deepEqual(await news(), [`edge/a.yaml:2: cluster "a": ${isNew("stats_matcher", "1.40", "e3", "1.36.0")}`]);
  });

  it("is reported when it comes later, and not again", async () => {
    const { older, change, news } = world();
    change("edge", cluster("a", {}));
    older.connected("edge", envoy("e", "1.39.0"));
    assert.deepEqual(await news(), []);
    change("edge", cluster("a", { statsMatcher }));
    assert.deepEqual((await news()).length, 1);
    change("edge", cluster("b", { statsMatcher }));
    assert.deepEqual(await news(), []);
  });

  it("is listed while it is served and such an Envoy is connected", async () => {
    const { older, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    const listed = () => older.findings().map(({ resource }) => resource);
    older.connected("edge", envoy("e", "1.39.0"));
    older.connected("edge", envoy("f", "1.39.1"));
    await news();
    assert.deepEqual(listed(), ["a"]);
    change("edge", cluster("a", {}));
    await news();
    assert.deepEqual(listed(), []);
    change("edge", cluster("b", { statsMatcher }));
    assert.deepEqual(await news(), []);
    assert.deepEqual(listed(), ["b"]);
    older.left("edge", envoy("e", "1.39.0"));
    assert.deepEqual(listed(), ["b"]);
    older.left("edge", envoy("f", "1.39.1"));
    assert.deepEqual(listed(), []);
  });

  it("is not reported for the newest Envoys, for Envoys without a known version, and for other clients", async () => {
    const { older, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    older.connected("edge", envoy("e", "1.40.0"));
    older.connected("edge", envoy("e", "2.0.0"));
    older.connected("edge", envoy("e", ""));
    older.connected("edge", { ...envoy("g", "1.20.0"), userAgentName: "gRPC Go" });
    assert.deepEqual(await news(), []);
  });

  it("is searched again once Envoys of other versions are gone, however many there were", async () => {
    const { older, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    for (let minor = 0; minor < 150; minor++) {
      older.connected("edge", envoy("e", `0.${minor}.0`));
      older.left("edge", envoy("e", `0.${minor}.0`));
    }
    await news();
    older.connected("edge", envoy("e", "1.39.0"));
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
    older.connected("edge", envoy("e", "1.39.0"));
    await older.settled();
    broken = false;
    snapshot = updateSnapshot(snapshot, { upsert: [cluster("b", { statsMatcher })] });
    older.changed();
    await older.settled();
    assert.equal(seen.length, 2, seen.join());
    assert.match(seen.join(), /no place,field "stats_matcher"/);
  });

  it("is searched for a bounded number of versions", async () => {
    const { older, change, news } = world();
    change("edge", cluster("a", { statsMatcher }));
    for (let minor = 0; minor < 1_000; minor++) older.connected("edge", envoy("e", `0.${minor}.0`));
    assert.equal((await news()).length, 100);
  });
});
