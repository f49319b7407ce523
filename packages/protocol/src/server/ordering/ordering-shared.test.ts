import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  createStream,
  defaultOrderingTimes,
  defaultStreamLimits,
  emptySnapshot,
  Ordering,
  type Snapshot,
  type Stream,
  updateSnapshot,
} from "../../index.js";
import { assertCollected } from "../../testing/collected.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "../../testing/wire.js";

/** The type in the name of a stream such as `endpoint e1`. */
const wordOf = (stream: string) => stream.split(" ")[0] ?? "";

/** Per-type streams of one node. As in a server, each gets a turn only when it was told that it may go on. */
function createNode(types: readonly string[], first: Snapshot, times = defaultOrderingTimes) {
  const ordering = new Ordering(times);
  const woken = new Set<string>();
  let snapshot = first;
  let now = 0;
  const streams = new Map(types.map((type) => [type, streamFor(type)]));
  function streamFor(type: string): Stream {
    return createStream({
      variant: "delta",
      api: "v3",
      types: resourceTypes,
      limits: defaultStreamLimits,
      defaultNode: undefined,
      only: typeOf(wordOf(type)),
      mayGoOn: () => woken.add(type),
    });
  }
  const streamOf = (type: string) => {
    const stream = streams.get(type);
    assert.ok(stream);
    return stream;
  };
  const give = (type: string) => streamOf(type).step({ kind: "snapshot", snapshot, ordering }, now);
  for (const type of types) give(type);
  return {
    /** Opens another stream later. */
    open(type: string) {
      streams.set(type, streamFor(type));
      give(type);
    },
    request(type: string, more: { readonly subscribe?: readonly string[]; readonly nonce?: string }) {
      // A usual answer has no node.
      const node = more.nonce === undefined ? { id: "n" } : undefined;
      const bytes = encodeRequest("delta", { typeUrl: urlOf(wordOf(type), "v3"), node, ...more });
      streamOf(type).step({ kind: "request", bytes }, now);
      woken.add(type);
    },
    publish(next: Snapshot) {
      snapshot = next;
      for (const type of types) give(type);
    },
    /** Takes the next response of one stream. */
    take(type: string): SeenResponse | undefined {
      woken.delete(type);
      const response = streamOf(type).next(now);
      return response && decodeResponse("delta", response);
    },
    woken,
    /** Each stream that was woken takes its turn, and acknowledges what it gets, until none is left. */
    settle(): void {
      for (const type of woken) {
        for (let response = this.take(type); response !== undefined; response = this.take(type))
          this.request(type, { nonce: response.nonce });
      }
    },
    pass(milliseconds: number): void {
      now += milliseconds;
      for (const [type, stream] of streams) {
        stream.step({ kind: "time" }, now);
        woken.add(type);
      }
      this.settle();
    },
    deadline: (type: string) => streamOf(type).deadline(),
    isInSync: () => [...streams.values()].every((stream) => stream.isInSync),
  };
}

/** Sends requests, and acknowledges the responses. */
function boot(node: ReturnType<typeof createNode>, asks: readonly (readonly [string, readonly string[]])[]): void {
  for (const [type, subscribe] of asks) {
    node.request(type, { subscribe });
    const response = node.take(type);
    assert.ok(response, type);
    node.request(type, { nonce: response.nonce });
    assert.equal(node.take(type), undefined);
  }
  node.woken.clear();
}

test("a stream that goes on without a response wakes the streams that wait for it", () => {
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [
      sampleResource("cluster", "a", "1->static"),
      sampleResource("cluster", "b", "1->static"),
      sampleResource("route", "r", "1->b"),
      sampleResource("route", "s", "1->a"),
    ],
    remove: [],
  });
  const node = createNode(["cluster", "route"], before);
  boot(node, [
    ["cluster", []],
    ["route", ["r"]],
  ]);
  // The client never asked for one of the routes that named the cluster.
  const after = updateSnapshot(before, {
    upsert: [sampleResource("route", "s", "2->b")],
    remove: [{ type: typeOf("cluster"), name: "a" }],
  });
  node.publish(after);
  assert.equal(node.take("cluster"), undefined);
  assert.equal(node.take("route"), undefined);
  assert.deepEqual([...node.woken], ["cluster"]);
  assert.deepEqual(node.take("cluster")?.removed, ["a"]);
});

test("the acknowledgement of an unchanged resource wakes the streams that wait for it", () => {
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [
      sampleResource("cluster", "a", "1->x"),
      sampleResource("endpoint", "x", "1"),
      sampleResource("endpoint", "y", "1"),
      sampleResource("route", "r", "1->a"),
    ],
    remove: [],
  });
  const node = createNode(["cluster", "endpoint", "route"], before);
  boot(node, [
    ["cluster", []],
    ["endpoint", ["x"]],
    ["route", ["r"]],
  ]);
  const after = updateSnapshot(before, {
    upsert: [sampleResource("cluster", "b", "1->y"), sampleResource("route", "r", "2->b")],
    remove: [],
  });
  node.publish(after);
  assert.equal(node.take("route"), undefined);
  const clusters = node.take("cluster");
  node.request("cluster", { nonce: clusters?.nonce ?? "" });
  assert.equal(node.take("cluster"), undefined);
  assert.equal(node.take("route"), undefined);
  node.request("endpoint", { subscribe: ["y"] });
  const endpoints = node.take("endpoint");
  assert.equal(endpoints?.resources[0]?.name, "y");
  node.woken.clear();
  node.request("endpoint", { nonce: endpoints?.nonce ?? "" });
  assert.deepEqual([...node.woken].sort(), ["endpoint", "route"]);
  assert.equal(node.take("route")?.resources[0]?.content, "2->b");
});

/** A listener moves from one route to another, which is in use already; the first one goes with its cluster. */
const inUse = updateSnapshot(emptySnapshot(), {
  upsert: [
    ...["a", "b"].map((name) => sampleResource("cluster", name, "1->static")),
    sampleResource("listener", "l", "1->r"),
    sampleResource("listener", "m", "1->s"),
    sampleResource("route", "r", "1->a"),
    sampleResource("route", "s", "1->b"),
  ],
});
const movedInUse = updateSnapshot(inUse, {
  upsert: [sampleResource("listener", "l", "2->s")],
  remove: [
    { type: typeOf("cluster"), name: "a" },
    { type: typeOf("route"), name: "r" },
  ],
});

test("an acknowledgement also wakes a stream whose resources wait for it by way of another stream", () => {
  const node = createNode(["cluster", "listener", "route"], inUse);
  boot(node, [
    ["cluster", []],
    ["listener", []],
    ["route", ["r", "s"]],
  ]);
  node.publish(movedInUse);
  for (const type of ["cluster", "route"]) assert.equal(node.take(type), undefined);
  const listeners = node.take("listener");
  assert.deepEqual(
    listeners?.resources.map(({ content }) => content),
    ["2->s"],
  );
  assert.ok(!node.isInSync());
  node.woken.clear();
  node.request("listener", { nonce: listeners?.nonce ?? "" });
  node.settle();
  assert.ok(node.isInSync());
});

test("endpoints of old clusters that drain are no reason to wait, whoever is woken", () => {
  const upsert = (name: string, listener: string, route: string) => [
    sampleResource("cluster", name, "1"),
    sampleResource("endpoint", name, "1"),
    sampleResource("listener", "l", listener),
    sampleResource("route", route, `1->${name}`),
  ];
  const node = createNode(
    ["cluster", "endpoint", "listener", "route"],
    updateSnapshot(emptySnapshot(), { upsert: upsert("a", "1->r", "r") }),
  );
  boot(node, [
    ["cluster", []],
    ["endpoint", ["a"]],
    ["listener", []],
    ["route", ["r"]],
  ]);
  node.publish(updateSnapshot(emptySnapshot(), { upsert: upsert("b", "2->s", "s") }));
  const [clusters, , listeners] = ["cluster", "endpoint", "listener", "route"].map((type) => node.take(type));
  node.request("endpoint", { subscribe: ["b"] });
  node.request("endpoint", { nonce: node.take("endpoint")?.nonce ?? "" });
  node.request("cluster", { nonce: clusters?.nonce ?? "" });
  for (const type of ["cluster", "endpoint", "route"]) node.take(type);
  node.woken.clear();
  node.request("listener", { nonce: listeners?.nonce ?? "" });
  node.request("route", { subscribe: ["s"] });
  node.settle();
  assert.ok(node.isInSync());
});

test("a listener that is never answered is waited for no longer than for an answer, in whichever order the streams came", () => {
  const node = createNode(["route", "listener", "cluster"], inUse);
  boot(node, [
    ["route", ["r", "s"]],
    ["listener", []],
    ["cluster", []],
  ]);
  node.pass(20_000);
  node.publish(movedInUse);
  for (const type of ["route", "listener", "cluster"]) node.take(type);
  assert.equal(node.deadline("cluster"), 20_000 + defaultOrderingTimes.acknowledgement);
});

test("on a node with many streams an acknowledgement wakes the streams that wait for it, and no others", () => {
  const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [
      ...names.flatMap((name, index) => [
        sampleResource("cluster", `c${index}`, `1->${name}`),
        sampleResource("endpoint", name, "1"),
      ]),
      sampleResource("route", "r", "1->c0"),
    ],
    remove: [],
  });
  const endpoints = names.map((name) => `endpoint ${name}`);
  const node = createNode(["cluster", "route", ...endpoints], before);
  boot(node, [["cluster", []], ["route", ["r"]], ...names.map((name) => [`endpoint ${name}`, [name]] as const)]);
  const changed = names.slice(1).map((name) => sampleResource("endpoint", name, "2"));
  const after = updateSnapshot(before, {
    upsert: [sampleResource("route", "r", "2->c1"), ...changed],
    remove: [
      { type: typeOf("cluster"), name: "c0" },
      { type: typeOf("endpoint"), name: "e0" },
    ],
  });
  node.publish(after);
  assert.equal(node.take("cluster"), undefined);
  const nonces = endpoints.map((stream) => node.take(stream)?.nonce);
  node.woken.clear();
  node.request("endpoint e1", { nonce: nonces[1] ?? "" });
  assert.deepEqual([...node.woken], ["endpoint e1"]);
  node.request("route", { nonce: node.take("route")?.nonce ?? "" });
  assert.ok(node.woken.has("cluster"));
  const clusters = node.take("cluster");
  assert.deepEqual(clusters?.removed, ["c0"]);
  node.woken.clear();
  node.request("cluster", { nonce: clusters.nonce });
  assert.ok(node.woken.has("endpoint e0"));
});

test("the earlier target of a client keeps nothing in between alive, not even of types that it does not ask for", async () => {
  const change = (snapshot: Snapshot, type: string, content: string) =>
    updateSnapshot(snapshot, { upsert: [sampleResource(type, "a", content)], remove: [] });
  let snapshot = change(change(emptySnapshot(), "cluster", "1"), "route", "first");
  const node = createNode(["cluster"], snapshot);
  boot(node, [["cluster", []]]);
  for (const content of ["2", "3"]) {
    snapshot = change(snapshot, "cluster", content);
    node.publish(snapshot);
    node.request("cluster", { nonce: node.take("cluster")?.nonce ?? "" });
  }
  const between: WeakRef<object>[] = [];
  for (let round = 0; round < 20; round++) {
    const route = createResource(create(RouteConfigurationSchema, { name: "a", virtualHosts: [{ name: `${round}` }] }));
    snapshot = updateSnapshot(snapshot, { upsert: [route], remove: [] });
    if (round < 16) between.push(new WeakRef(route));
    node.publish(snapshot);
    assert.equal(node.take("cluster"), undefined);
  }
  await assertCollected(between);
});

test("a stream that opens beside a repeating one is woken by that stream's acknowledgement", () => {
  const first = updateSnapshot(emptySnapshot(), {
    upsert: [sampleResource("cluster", "a", "1->x"), sampleResource("endpoint", "x", "1")],
  });
  const next = updateSnapshot(first, {
    upsert: [sampleResource("cluster", "a", "2->y"), sampleResource("endpoint", "y", "1")],
    remove: [{ type: typeOf("endpoint"), name: "x" }],
  });
  const nodes = [createNode(["cluster"], first), createNode(["cluster"], first), createNode(["cluster"], first)];
  for (const node of nodes) boot(node, [["cluster", []]]);
  for (const node of nodes) {
    node.publish(next);
    const clusters = node.take("cluster");
    assert.equal(node.take("cluster"), undefined);
    // It asks for the load assignment of a cluster that it still uses.
    node.open("endpoint");
    node.request("endpoint", { subscribe: ["x"] });
    const { resources = [], nonce = "" } = node.take("endpoint") ?? {};
    assert.deepEqual(
      resources.map(({ name }) => name),
      ["x"],
    );
    node.request("endpoint", { nonce });
    assert.equal(node.take("endpoint"), undefined);
    node.woken.clear();
    node.request("cluster", { nonce: clusters?.nonce ?? "" });
    assert.deepEqual([...node.woken].sort(), ["cluster", "endpoint"]);
  }
});

for (const acknowledgement of [defaultOrderingTimes.acknowledgement, Number.POSITIVE_INFINITY]) {
  test(`routes do not wait for the needs of clusters if the client asks for clusters by name, and answers may take ${acknowledgement} ms`, () => {
    const before = updateSnapshot(emptySnapshot(), {
      upsert: [
        sampleResource("cluster", "a", "1->x"),
        sampleResource("endpoint", "x", "1"),
        sampleResource("route", "r", "1->a"),
      ],
    });
    const node = createNode(["cluster", "endpoint", "route"], before, { ...defaultOrderingTimes, acknowledgement });
    boot(node, [
      ["cluster", ["a", "b"]],
      ["endpoint", ["x", "y"]],
      ["route", ["r"]],
    ]);
    const after = updateSnapshot(before, {
      upsert: [
        sampleResource("cluster", "b", "1->y"),
        sampleResource("endpoint", "y", "1"),
        sampleResource("route", "r", "2->b"),
      ],
    });
    node.publish(after);
    node.request("cluster", { nonce: node.take("cluster")?.nonce ?? "" });
    assert.equal(node.take("route")?.resources[0]?.content, "2->b");
  });
}

for (const first of ["cluster 1", "cluster 2"]) {
  test(`routes wait for every stream of a node that takes all clusters, whichever answers first: ${first}`, () => {
    const before = updateSnapshot(emptySnapshot(), {
      upsert: [sampleResource("cluster", "a", "1->static"), sampleResource("route", "r", "1->a")],
    });
    const node = createNode(["cluster 1", "cluster 2", "route"], before);
    boot(node, [
      ["cluster 1", []],
      ["cluster 2", []],
      ["route", ["r"]],
    ]);
    const after = updateSnapshot(before, {
      upsert: [sampleResource("cluster", "b", "1->static"), sampleResource("route", "r", "2->b")],
    });
    node.publish(after);
    const nonces = new Map(["cluster 1", "cluster 2"].map((stream) => [stream, node.take(stream)?.nonce ?? ""]));
    assert.equal(node.take("route"), undefined);
    node.request(first, { nonce: nonces.get(first) ?? "" });
    assert.equal(node.take("route"), undefined);
    const second = first === "cluster 1" ? "cluster 2" : "cluster 1";
    node.request(second, { nonce: nonces.get(second) ?? "" });
    assert.equal(node.take("route")?.resources[0]?.content, "2->b");
  });
}
