import assert from "node:assert/strict";
import { type HeapProfiler, Session } from "node:inspector";
import { test } from "node:test";
import { type Resource, readResources } from "@xdskit/api";
import { LayerIndex } from "./layer-index.js";

const count = 200;
const none: ReadonlySet<string> = new Set();

/** A file in which another resource changes in each round. */
function read(round: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name: `c${index}`,
    alt_stat_name: index < round ? "changed" : "new",
    connect_timeout: "1s",
  }));
  return readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(items)) }).resources;
}

test("resources that change one by one in a file keep the memory of their own bytes, not of each reading", () => {
  const index = new LayerIndex("base");
  const applied = new Map<string, Resource>();
  for (let round = 0; round <= count; round += 1) {
    if (round > 0) index.remove("a.json", read(round - 1));
    index.add("a.json", read(round));
    const change = index.change(round === 0 ? "replace" : "patch", none) ?? assert.fail();
    assert.equal(change.update.upsert.length, round === 0 ? count : 1);
    for (const resource of change.update.upsert) applied.set(resource.name, resource);
    index.commit(change);
  }
  const bodies = [...applied.values()].map(({ body }) => body);
  const buffers = new Set(bodies.map(({ buffer }) => buffer));
  const sum = (lengths: readonly number[]) => lengths.reduce((total, length) => total + length, 0);
  assert.equal(sum([...buffers].map(({ byteLength }) => byteLength)), sum(bodies.map(({ byteLength }) => byteLength)));
});

/** Bytes that were allocated meanwhile, also those that are garbage by then. Node's types do not know of the latter. */
function allocatedIn(work: () => void): number {
  const session = new Session();
  session.connect();
  const garbageToo = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
  session.post("HeapProfiler.startSampling", { samplingInterval: 1024, ...garbageToo } as object);
  work();
  let sum = 0;
  const add = ({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): void => {
    sum += selfSize;
    children.forEach(add);
  };
  session.post("HeapProfiler.stopSampling", (_, { profile }) => add(profile.head));
  session.disconnect();
  return sum;
}

for (const { where, fileOf } of [
  { where: "in one file", fileOf: () => "a.json" },
  { where: "in a file each", fileOf: (index: number) => `${index}.json` },
]) {
  test(`a name that occurs many times ${where} costs the same each time`, () => {
    const [one = assert.fail()] = read(0);
    const cost = (times: number) => {
      const index = new LayerIndex("base");
      const files = new Set(Array.from({ length: times }, (_, number) => fileOf(number)));
      const ofEach = Array.from({ length: times / files.size }, () => one);
      return allocatedIn(() => {
        for (const file of files) index.add(file, ofEach);
        assert.equal([...index.doubled()].flat().length, times);
        for (const file of files) index.remove(file, ofEach);
        assert.deepEqual([...index.doubled()], []);
      });
    };
    const few = cost(500);
    assert.ok(cost(5_000) < 30 * few);
  });
}

test("the first of several resources of one name stays, and the next one follows it", () => {
  const index = new LayerIndex("base");
  const [one = assert.fail()] = read(0);
  const said = (line: number) => ({ resource: one.resource, where: { line } });
  index.add("a.json", [said(1), said(2)]);
  index.add("b.json", [said(3), said(4)]);
  index.add("c.json", [said(5)]);
  const lines = () => Array.from(index.doubled(), (entries) => entries.map(({ where }) => where.line));
  assert.deepEqual(lines(), [[1, 2, 3, 4, 5]]);
  index.remove("a.json", [said(1), said(2)]);
  assert.equal(index.whereIs(one.resource)?.line, 3);
  assert.deepEqual(lines(), [[3, 4, 5]]);
  index.add("a.json", [said(6)]);
  assert.deepEqual(lines(), [[6, 3, 4, 5]]);
  index.remove("c.json", [said(5)]);
  index.remove("b.json", [said(3), said(4)]);
  assert.equal(index.whereIs(one.resource)?.line, 6);
  assert.deepEqual(lines(), []);
});
