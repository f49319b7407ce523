import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { hasContent } from "../../model/sets/unknown-content.js";
import { emptySnapshot, type Snapshot, updateSnapshot } from "../../model/snapshots/snapshot.js";
import { sampleResource } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import { claimedSnapshot } from "./claimed-snapshot.js";
import type { ClaimedResources } from "./shown-names.js";

const cluster = typeOf("cluster");
const route = typeOf("route");
const older = updateSnapshot(emptySnapshot(), {
  upsert: [sampleResource("cluster", "a", "1"), sampleResource("route", "r", "1->a")],
});
const newest = updateSnapshot(older, {
  upsert: [sampleResource("cluster", "b", "1"), sampleResource("route", "r", "2->b")],
  remove: [{ type: cluster, name: "a" }],
});
const known = [newest, older] as const;

function claims(versions: Readonly<Record<string, string | undefined>>): ClaimedVersions {
  const map = new Map(Object.entries(versions).map(([name, version]) => [name, version ?? ""]));
  // Equal to no set, as those of a client in the middle of a change are.
  return { size: map.size, bytes: 0, fingerprint: { high: 1, low: 1 }, toMap: () => map };
}

const versionOf = (snapshot: Snapshot, type: typeof cluster, name: string) => snapshot.of(type).get(name)?.version;

const all = { wildcard: true, names: NameSet.empty };
const named = { wildcard: false, names: NameSet.of(["r"]) };

/** `a->b`: the clusters that routes lead to. */
function contents(snapshot: Snapshot): string {
  const clusters = Array.from(snapshot.of(cluster), ({ name }) => name).sort();
  const r = snapshot.of(route).get("r");
  return `${clusters} r->${r?.references.map(({ name }) => name)}`;
}

describe("the snapshot of a client that comes back in the middle of a change", () => {
  it("the snapshot is put together from the versions that a client of delta claims", () => {
    const ofClusters = claims({ a: versionOf(older, cluster, "a"), b: versionOf(newest, cluster, "b") });
    const ofRoutes = claims({ r: versionOf(older, route, "r") });
    const said: readonly ClaimedResources[] = [
      { type: route, subscription: named, claimed: ofRoutes },
      { type: cluster, subscription: all, claimed: ofClusters },
    ];
    const { snapshot, isKnown } = claimedSnapshot(said, known);
    assert.equal(contents(snapshot), "a,b r->a");
    assert.ok(isKnown);
  });

  it("the snapshot is found by the version of a mixture that a client of SotW claims", () => {
    const middle = ResourceSets.branch(newest.of(cluster), new Map([["a", older.of(cluster).get("a")]]));
    const said: readonly ClaimedResources[] = [
      { type: cluster, subscription: all, claimed: middle.version },
      { type: route, subscription: named, claimed: older.of(route).version },
    ];
    const { snapshot, isKnown } = claimedSnapshot(said, known);
    assert.equal(contents(snapshot), "a,b r->a");
    assert.equal(snapshot.of(cluster).version, middle.version);
    assert.ok(isKnown);
  });

  it("the snapshot is found by the version of all clusters that several changes replaced, and that stay for drains", () => {
    const line: Snapshot[] = [];
    for (let number = 0; number < 8; number += 1) {
      const both = (of: number) => [`red-${of}`, `blue-${of}`];
      line.unshift(
        updateSnapshot(line[0] ?? emptySnapshot(), {
          upsert: both(number).map((name) => sampleResource("cluster", name, "1->static")),
          remove: both(number - 1).map((name) => ({ type: cluster, name })),
        }),
      );
    }
    const stayed = line.slice(0, 7).flatMap((snapshot) => [...snapshot.of(cluster)]);
    const all7 = ResourceSets.branch(line[0]?.of(cluster) as ResourceSet, new Map(stayed.map((one) => [one.key, one])));
    assert.equal(all7.size, 14);
    const said: readonly ClaimedResources[] = [{ type: cluster, subscription: all, claimed: all7.version }];
    const { snapshot, isKnown } = claimedSnapshot(said, line as [Snapshot, ...Snapshot[]]);
    assert.equal(snapshot.of(cluster).version, all7.version);
    assert.ok(isKnown);
  });

  it("the snapshot has the newest content whose clusters exist under a name without a known version", () => {
    const said: readonly ClaimedResources[] = [
      { type: cluster, subscription: all, claimed: older.of(cluster).version },
      { type: route, subscription: named, claimed: undefined },
    ];
    assert.equal(contents(claimedSnapshot(said, known).snapshot), "a r->a");
  });

  it("the snapshot has the clusters whose endpoints it asks for while it does not ask for clusters", () => {
    const said: readonly ClaimedResources[] = [
      { type: typeOf("endpoint"), subscription: { wildcard: false, names: NameSet.of(["a"]) }, claimed: undefined },
      { type: route, subscription: named, claimed: older.of(route).version },
    ];
    assert.equal(contents(claimedSnapshot(said, known).snapshot), "a,b r->a");
    assert.equal(contents(claimedSnapshot(said.slice(1), known).snapshot), "b r->a");
  });

  it("the snapshot keeps contents that only the client knows, which may name all removed resources", () => {
    const said: readonly ClaimedResources[] = [
      { type: cluster, subscription: all, claimed: claims({ ahead: "x" }) },
      { type: route, subscription: named, claimed: claims({ r: "y" }) },
    ];
    const { snapshot, isKnown } = claimedSnapshot(said, known);
    assert.equal(contents(snapshot), "ahead r->ahead");
    assert.equal(snapshot.of(route).get("r")?.version, "y");
    assert.equal([...snapshot.of(cluster)].some(hasContent), false);
    assert.equal(isKnown, false);
  });

  it("the snapshot keeps an unknown route that may name clusters of an older set that the client has exactly", () => {
    const { size } = older.of(cluster);
    const fingerprint = ResourceSets.fingerprint(older.of(cluster));
    const exactly = { ...claims({ a: versionOf(older, cluster, "a") }), fingerprint, size };
    const said: readonly ClaimedResources[] = [
      { type: cluster, subscription: all, claimed: exactly },
      { type: route, subscription: named, claimed: claims({ r: "y" }) },
    ];
    assert.equal(contents(claimedSnapshot(said, known).snapshot), "a r->a");
  });

  it("the snapshot keeps the names of the newest that a client with an older set does not ask for", () => {
    const load = typeOf("endpoint");
    const first = updateSnapshot(newest, { upsert: [sampleResource("endpoint", "a", "1")] });
    const then = updateSnapshot(first, {
      upsert: [sampleResource("endpoint", "b", "1")],
      remove: [{ type: load, name: "a" }],
    });
    const last = updateSnapshot(then, {
      upsert: [sampleResource("endpoint", "c", "1")],
      remove: [{ type: load, name: "b" }],
    });
    const { size } = first.of(load);
    const fingerprint = ResourceSets.fingerprint(first.of(load));
    const exactly = { ...claims({ a: versionOf(first, load, "a") }), fingerprint, size };
    const said: readonly ClaimedResources[] = [
      { type: load, subscription: { wildcard: false, names: NameSet.of(["a", "b"]) }, claimed: exactly },
    ];
    const { snapshot } = claimedSnapshot(said, [last, then, first]);
    assert.deepEqual(Array.from(snapshot.of(load), ({ name }) => name).sort(), ["a", "b", "c"]);
  });

  it("the snapshot has every cluster that it may have if its version tells nothing", () => {
    const said: readonly ClaimedResources[] = [{ type: cluster, subscription: all, claimed: "0000000000000007" }];
    const { snapshot, isKnown } = claimedSnapshot(said, known);
    assert.match(contents(snapshot), /^a,b /);
    assert.equal(isKnown, false);
  });

  it("the snapshot is found among many snapshots, and in changes of many resources", () => {
    const names = Array.from({ length: 500 }, (_, index) => `n${index}`);
    const line: Snapshot[] = [older];
    for (const label of ["1", "2", "3", "4"]) {
      const upsert = names.map((name) => sampleResource("cluster", `${name}-${label}`, label));
      const last = line.at(-1) as Snapshot;
      const remove =
        label === "1" ? [] : names.map((name) => ({ type: cluster, name: `${name}-${Number(label) - 1}` }));
      line.push(updateSnapshot(last, { upsert, remove }));
    }
    const [before, after] = [line[2] as Snapshot, line[3] as Snapshot];
    const gone = new Map(names.map((name) => [`${name}-2`, before.of(cluster).get(`${name}-2`)]));
    const middle = ResourceSets.branch(after.of(cluster), gone);
    const said: readonly ClaimedResources[] = [{ type: cluster, subscription: all, claimed: middle.version }];
    const [last, ...others] = line.toReversed() as [Snapshot, ...Snapshot[]];
    const { snapshot, isKnown } = claimedSnapshot(said, [last, ...others]);
    assert.ok(isKnown);
    assert.equal(snapshot.of(cluster).size, 1_001);
  });
});
