import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  createStream,
  defaultStreamLimits,
  emptySnapshot,
  Ordering,
  type Snapshot,
  SnapshotLineage,
  updateSnapshot,
} from "../../index.js";
import { assertCollected } from "../../testing/collected.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import { encodeRequest, type Request } from "../../testing/wire.js";
import type { OutgoingResponse } from "../contract/response.js";

const first = () =>
  updateSnapshot(emptySnapshot(), {
    upsert: ["a", "b"].flatMap((name) => [
      sampleResource("cluster", name, `1->${name}`),
      sampleResource("endpoint", name, "1"),
    ]),
  });

const withChange = (snapshot: Snapshot, type: string, text: string) =>
  updateSnapshot(snapshot, { upsert: [sampleResource(type, "a", text)] });

/** Per-type streams of one node, in one order, on one lineage. */
function createNode(lineage: SnapshotLineage, ordering: Ordering | undefined = new Ordering()) {
  return {
    open(type: "cluster" | "endpoint") {
      const stream = createStream({
        variant: "delta",
        api: "v3",
        types: resourceTypes,
        limits: defaultStreamLimits,
        defaultNode: undefined,
        only: typeOf(type),
      });
      const request = (more: Partial<Request>) => {
        const bytes = encodeRequest("delta", { typeUrl: urlOf(type, "v3"), ...more });
        return stream.step({ kind: "request", bytes });
      };
      request({ node: { id: "n" }, subscribe: type === "cluster" ? [] : ["a"] });
      const give = (snapshot: Snapshot) => stream.step({ kind: "snapshot", snapshot, ordering, lineage });
      const take = () => {
        const sent: OutgoingResponse[] = [];
        for (let next = stream.next(); next !== undefined; next = stream.next()) sent.push(next);
        return sent;
      };
      const answer = (sent: readonly OutgoingResponse[]) => {
        for (const { nonce } of sent) request({ nonce });
      };
      return {
        stream,
        give,
        take,
        answer,
        bring(snapshot: Snapshot): number {
          give(snapshot);
          const sent = take();
          answer(sent);
          return sent.length;
        },
      };
    },
  };
}

function createLineage(snapshot: Snapshot): SnapshotLineage {
  const lineage = new SnapshotLineage();
  lineage.start(snapshot);
  return lineage;
}

for (const isOrdered of [true, false]) {
  test(`a stream in sync follows its lineage past changes that do not concern it, ${isOrdered ? "ordered" : "at once"}`, () => {
    let snapshot = first();
    const lineage = createLineage(snapshot);
    const { stream, bring, give } = createNode(lineage, isOrdered ? new Ordering() : undefined).open("cluster");
    assert.equal(bring(snapshot), 1);
    // Its order joins the lineage when the stream is in sync.
    give(snapshot);
    for (let round = 0; round < 3; round++) {
      snapshot = withChange(snapshot, "endpoint", `round ${round}`);
      lineage.goOn(snapshot, true);
      assert.ok(stream.isUpToDateWith(snapshot));
      assert.equal(stream.newest, snapshot);
      assert.ok(stream.isInSync);
    }
    const concerned = withChange(snapshot, "cluster", "2->a");
    lineage.goOn(concerned, true);
    assert.equal(stream.isUpToDateWith(concerned), false);
    assert.equal(stream.newest, snapshot);
    assert.equal(bring(concerned), 1);
    assert.ok(stream.isInSync);
  });
}

for (const isOrdered of [true, false]) {
  test(`a stream in sync passes by changes of names that it does not ask for, ${isOrdered ? "ordered" : "at once"}`, () => {
    const named = (snapshot: Snapshot, name: string, text: string) =>
      updateSnapshot(snapshot, { upsert: [sampleResource("endpoint", name, text)] });
    let snapshot = first();
    const lineage = createLineage(snapshot);
    const { stream, bring, give, take } = createNode(lineage, isOrdered ? new Ordering() : undefined).open("endpoint");
    assert.equal(bring(snapshot), 1);
    for (const text of ["2", "3", "4"]) {
      snapshot = named(snapshot, "b", text);
      lineage.goOn(snapshot, true);
      assert.ok(stream.isUpToDateWith(snapshot));
      assert.ok(stream.isInSync);
      const [{ acknowledged, sent, meanwhile } = assert.fail()] = stream.status();
      assert.ok(meanwhile !== undefined);
      assert.equal(acknowledged?.set, meanwhile);
      assert.equal(acknowledged.version, meanwhile.version);
      assert.equal(sent?.set, meanwhile);
    }
    const beside = named(snapshot, "b", "5");
    lineage.goOn(beside, true);
    const concerned = named(beside, "a", "2");
    lineage.goOn(concerned, true);
    assert.equal(stream.isUpToDateWith(concerned), false);
    assert.equal(stream.newest, beside);
    assert.equal(bring(concerned), 1);
    assert.ok(stream.isInSync);
    // A name that it asks for only now has the newest content.
    const last = named(concerned, "b", "6");
    lineage.goOn(last, true);
    stream.step({
      kind: "request",
      bytes: encodeRequest("delta", { typeUrl: urlOf("endpoint", "v3"), subscribe: ["b"] }),
    });
    give(last);
    assert.deepEqual(
      take().map(({ resources, version }) => [resources, version]),
      [[1, last.of(typeOf("endpoint")).version]],
    );
  });
}

test("a stream whose listeners drain keeps what they name, though it does not ask for that now", () => {
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [sampleResource("listener", "l", "1->d"), ...["a", "d"].map((name) => sampleResource("route", name, "1"))],
  });
  const lineage = createLineage(before);
  const ads = createStream({
    variant: "delta",
    api: "v3",
    types: resourceTypes,
    limits: defaultStreamLimits,
    defaultNode: undefined,
    only: undefined,
  });
  const ordering = new Ordering();
  const request = (type: string, more: Partial<Request>) =>
    ads.step({ kind: "request", bytes: encodeRequest("delta", { typeUrl: urlOf(type, "v3"), ...more }) });
  const bring = (snapshot: Snapshot) => {
    lineage.goOn(snapshot, true);
    ads.step({ kind: "snapshot", snapshot, ordering, lineage });
    const resources: number[] = [];
    for (let next = ads.next(); next !== undefined; next = ads.next()) {
      resources.push(next.resources);
      request(next.type.name, { nonce: next.nonce });
    }
    return resources;
  };
  request("listener", { node: { id: "n" } });
  request("route", { subscribe: ["a"] });
  assert.deepEqual(bring(before), [1, 1]);
  const replaced = updateSnapshot(before, { upsert: [sampleResource("listener", "l", "2->a")] });
  assert.deepEqual(bring(replaced), [1]);
  assert.ok(ads.isInSync);
  const removed = updateSnapshot(replaced, { remove: [{ type: typeOf("route"), name: "d" }] });
  lineage.goOn(removed, true);
  assert.equal(ads.isUpToDateWith(removed), false);
  assert.deepEqual(bring(removed), []);
  request("route", { subscribe: ["d"] });
  assert.deepEqual(bring(removed), [1]);
});

test("a stream that shares its order with others is given each change of its types", () => {
  const snapshot = first();
  const lineage = createLineage(snapshot);
  const node = createNode(lineage);
  const [clusters, endpoints] = [node.open("cluster"), node.open("endpoint")];
  for (let turn = 0; turn < 3; turn++) for (const { bring } of [clusters, endpoints]) bring(snapshot);
  const beside = updateSnapshot(snapshot, { upsert: [sampleResource("endpoint", "b", "2")] });
  lineage.goOn(beside, true);
  assert.equal(endpoints.stream.isUpToDateWith(beside), false);
  assert.equal(endpoints.bring(beside), 0);
});

test("no stream follows its lineage while it awaits an answer, or while the newest snapshot is not the target of all clients", () => {
  let snapshot = first();
  const lineage = createLineage(snapshot);
  const node = createNode(lineage);
  const { stream, bring, give, take, answer } = node.open("cluster");
  bring(snapshot);
  give(snapshot);
  snapshot = withChange(snapshot, "cluster", "2->a");
  lineage.goOn(snapshot, true);
  give(snapshot);
  const sent = take();
  assert.equal(sent.length, 1);
  const next = withChange(snapshot, "endpoint", "2");
  lineage.goOn(next, true);
  assert.equal(stream.isUpToDateWith(next), false);
  give(next);
  answer(sent);
  assert.ok(stream.isInSync);
  give(next);
  assert.ok(stream.isUpToDateWith(next));
  const other = withChange(next, "endpoint", "3");
  lineage.goOn(other, false);
  assert.equal(stream.isUpToDateWith(other), false);
  assert.equal(stream.newest, next);
});

test("only those streams of a node that a change concerns are given the change", () => {
  let snapshot = first();
  const lineage = createLineage(snapshot);
  const node = createNode(lineage);
  const [clusters, endpoints] = [node.open("cluster"), node.open("endpoint")];
  for (let turn = 0; turn < 3; turn++) for (const { bring } of [clusters, endpoints]) bring(snapshot);
  for (let round = 0; round < 3; round++) {
    const before = snapshot;
    snapshot = withChange(snapshot, "endpoint", `round ${round}`);
    lineage.goOn(snapshot, true);
    assert.equal(endpoints.stream.isUpToDateWith(snapshot), false);
    assert.ok(clusters.stream.isUpToDateWith(snapshot), `round ${round}`);
    assert.equal(endpoints.stream.newest, before);
    assert.equal(endpoints.bring(snapshot), 1);
    for (const { stream, give } of [clusters, endpoints]) {
      assert.ok(stream.isInSync);
      if (!stream.isUpToDateWith(snapshot)) give(snapshot);
    }
  }
});

test("an order that followed its lineage compares new requests with the newest snapshot", () => {
  let snapshot = first();
  const lineage = createLineage(snapshot);
  const node = createNode(lineage);
  const clusters = node.open("cluster");
  clusters.bring(snapshot);
  clusters.give(snapshot);
  snapshot = updateSnapshot(snapshot, { remove: [{ type: typeOf("endpoint"), name: "b" }] });
  snapshot = withChange(snapshot, "endpoint", "2");
  lineage.goOn(snapshot, true);
  const endpoints = node.open("endpoint");
  endpoints.give(snapshot);
  const sent = endpoints.take();
  assert.deepEqual(
    sent.map(({ resources, removed }) => [resources, removed]),
    [[1, 0]],
  );
  endpoints.answer(sent);
  for (const { stream } of [clusters, endpoints]) assert.ok(stream.isInSync);
});

test("a lineage that nobody started begins with the first change that it is told", () => {
  let snapshot = first();
  const lineage = new SnapshotLineage();
  lineage.goOn(snapshot, true);
  const { stream, bring, give } = createNode(lineage).open("cluster");
  bring(snapshot);
  give(snapshot);
  snapshot = withChange(snapshot, "endpoint", "2");
  lineage.goOn(snapshot, true);
  assert.ok(stream.isUpToDateWith(snapshot));
});

test("streams of two lineages that share a snapshot each follow their own", () => {
  const before = first();
  const after = withChange(before, "cluster", "2->a");
  const lineages = [createLineage(before), createLineage(before)] as const;
  const streams = lineages.flatMap((lineage) =>
    [0, 1].map(() => ({ lineage, ...createNode(lineage).open("cluster") })),
  );
  for (const lineage of lineages) lineage.goOn(after, true);
  // The streams are behind their lineages, so they first settle where neither lineage stands.
  for (const snapshot of [before, after]) for (const { bring } of streams) assert.equal(bring(snapshot), 1);
  const [mine, other] = lineages;
  mine.goOn(withChange(after, "endpoint", "2"), true);
  for (const { stream, lineage } of streams) if (lineage === other) assert.equal(stream.newest, after);
});

test("neither a stream nor an order that follows its lineage keeps the resources in between alive", async () => {
  const between: WeakRef<object>[] = [];
  let snapshot = first();
  const lineage = createLineage(snapshot);
  const streams = Array.from({ length: 3 }, () => createNode(lineage).open("cluster"));
  for (const { bring } of streams) bring(snapshot);
  (() => {
    // Each order must remember an earlier target.
    for (const text of ["2->a", "3->a"]) {
      snapshot = withChange(snapshot, "cluster", text);
      lineage.goOn(snapshot, true);
      for (const { bring, give } of streams) {
        assert.equal(bring(snapshot), 1);
        give(snapshot);
      }
    }
    for (let round = 0; round < 20; round++) {
      const changed = createResource(
        create(ClusterLoadAssignmentSchema, { clusterName: "a", policy: { overprovisioningFactor: round } }),
      );
      snapshot = updateSnapshot(snapshot, { upsert: [changed] });
      if (round < 16) between.push(new WeakRef(changed));
      lineage.goOn(snapshot, true);
      for (const { stream } of streams) assert.ok(stream.isUpToDateWith(snapshot));
    }
  })();
  await assertCollected(between);
});
