import assert from "node:assert/strict";
import { it } from "node:test";
import type { Resource, TypeUrl } from "@xdskit/api";
import { emptySnapshot, updateSnapshot } from "../index.js";
import type { ResourceSet } from "../model/sets/resource-set.js";
import { sampleResource } from "../testing/sample-resources.js";
import { typeOf } from "../testing/sample-world.js";
import type { InUse } from "./in-use.js";
import { computeStage } from "./make-before-break.js";

/** The use of a type by a client that uses these sets, and holds the last of them. */
function inUse(
  word: "listener" | "route" | "cluster",
  used: readonly ResourceSet[],
  draining: readonly Resource[],
): InUse {
  return {
    type: typeOf(word),
    sentSet: used.at(-1),
    lastGood: new Map(),
    used: new Set(used),
    draining: new Set(draining),
    ackedOrInFlight: undefined,
    isFirst: false,
    isEstablished: true,
    isTaken: undefined,
  };
}

it("a removal waits for the acknowledgement of each process that uses a listener, as two processes may have one node id", () => {
  const [listener, route] = [typeOf("listener"), typeOf("route")];
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [sampleResource("listener", "l", "1->r"), sampleResource("route", "r", "1->c")],
  });
  const wanted = updateSnapshot(before, {
    upsert: [sampleResource("listener", "l", "2->s"), sampleResource("route", "s", "1->c")],
    remove: [{ type: route, name: "r" }],
  });
  const [old, current] = [before.of(listener), wanted.of(listener)];
  const kinds = (used: readonly ResourceSet[]) => {
    const types = new Map([
      [listener.typeUrl, inUse("listener", used, [...old])],
      [route.typeUrl, inUse("route", [before.of(route)], [])],
    ]);
    const { waits, awaited } = computeStage(types, wanted);
    return [...waits.map(({ kind }) => kind), ...awaited];
  };
  assert.deepEqual(kinds([current]), ["linger"]);
  assert.deepEqual(kinds([old, current]), ["break", listener.typeUrl]);
});

it("a stream waits for no answer that only a change on another stream waits for", () => {
  const [cluster, listener, route] = [typeOf("cluster"), typeOf("listener"), typeOf("route")];
  const old = sampleResource("listener", "l", "1->q");
  const upsert = ["a", "b"].map((name) => sampleResource("cluster", name, "1"));
  const wanted = updateSnapshot(emptySnapshot(), {
    upsert: [...upsert.slice(1), sampleResource("route", "s", "1->b")],
  });
  const mine = updateSnapshot(wanted, { upsert: [...upsert, sampleResource("route", "q", "1->b")] });
  const other = updateSnapshot(mine, { upsert: [sampleResource("route", "r", "1->a")] });
  const clusters = inUse("cluster", [other.of(cluster)], []);
  const routes = inUse("route", [other.of(route), mine.of(route)], []);
  const listeners = inUse("listener", [wanted.of(listener)], [old]);
  const stage = (...streams: readonly InUse[]) => {
    const { waits, awaited } = computeStage(new Map(streams.map((use) => [use.type.typeUrl, use])), wanted);
    return [...waits.map(({ kind, type }) => `${kind} ${type.name}`), ...awaited];
  };
  const elsewhere = (use: InUse) => ({ ...use, sentSet: undefined });
  assert.deepEqual(stage(clusters, elsewhere(routes), elsewhere(listeners)), ["break cluster", route.typeUrl]);
  assert.deepEqual(stage(elsewhere(clusters), routes, elsewhere(listeners)), ["linger route"]);
});

it("a listener that leads to itself through a cluster goes with that, and the listener first", () => {
  const [listener, cluster] = [typeOf("listener"), typeOf("cluster")];
  const naming = (resource: Resource, type: TypeUrl, name: string): Resource => ({
    ...resource,
    references: [{ type, name }],
  });
  const l = naming(sampleResource("listener", "l", "1"), cluster.typeUrl, "c");
  const c = naming(sampleResource("cluster", "c", "1"), listener.typeUrl, "l");
  const other = sampleResource("listener", "other", "1");
  const remove = [
    { type: listener, name: "l" },
    { type: cluster, name: "c" },
  ];
  const before = updateSnapshot(emptySnapshot(), { upsert: [l, c, other] });
  const wanted = updateSnapshot(before, { remove });
  const retained = (listeners: ResourceSet, draining: readonly Resource[]) => {
    const types = new Map([
      [listener.typeUrl, inUse("listener", [listeners], draining)],
      [cluster.typeUrl, inUse("cluster", [before.of(cluster)], [])],
    ]);
    const stage = computeStage(types, wanted);
    return {
      stays: [...stage.retained.values()].flatMap((one) => [...one.keys()]),
      kinds: stage.waits.map((one) => one.kind),
    };
  };
  assert.deepEqual(retained(before.of(listener), []), { stays: ["c"], kinds: ["break"] });
  assert.deepEqual(retained(wanted.of(listener), [l]), { stays: ["c"], kinds: ["linger"] });
  assert.deepEqual(retained(wanted.of(listener), []), { stays: [], kinds: [] });
});
