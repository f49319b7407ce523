import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource, type Resource, resourceTypes } from "@xdskit/api";
import { Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { emptySnapshot, type Snapshot, updateSnapshot } from "../../model/snapshots/snapshot.js";
import { assertCollected } from "../../testing/collected.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { StreamEffect } from "../contract/effects.js";
import { defaultStreamLimits } from "../contract/limits.js";
import type { StreamOptions } from "../contract/options.js";
import type { OutgoingResponse } from "../contract/response.js";
import type { Stream } from "./contract.js";
import { createStream } from "./stream.js";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const endpointUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const node = { id: "n" };

function cluster(name: string, altStatName = ""): Resource {
  const clusterDiscoveryType = { case: "type", value: Cluster_DiscoveryType.EDS } as const;
  const edsClusterConfig = { edsConfig: { configSourceSpecifier: { case: "ads", value: {} } as const } };
  return createResource(create(ClusterSchema, { name, altStatName, clusterDiscoveryType, edsClusterConfig }));
}

function endpoint(name: string, region = ""): Resource {
  const endpoints = [{ locality: { region } }];
  return createResource(create(ClusterLoadAssignmentSchema, { clusterName: name, endpoints }));
}

function open(variant: SotwOrDelta, options: Partial<StreamOptions> = {}): Stream {
  const defaults = { variant, api: "v3", types: resourceTypes, only: undefined, defaultNode: undefined } as const;
  return createStream({ ...defaults, limits: defaultStreamLimits, ...options });
}

function ask(
  stream: Stream,
  fields: {
    readonly typeUrl: string;
    readonly resourceNames?: string[];
    readonly responseNonce?: string;
    readonly errorDetail?: object;
  },
): readonly StreamEffect[] {
  const bytes = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, ...fields }));
  return stream.step({ kind: "request", bytes });
}

function askAs(
  stream: Stream,
  as: { readonly id: string; readonly extensions?: { name: string }[] },
): readonly StreamEffect[] {
  const request = create(DiscoveryRequestSchema, { node: as, typeUrl: clusterUrl });
  return stream.step({ kind: "request", bytes: toBinary(DiscoveryRequestSchema, request) });
}

function askDelta(
  stream: Stream,
  fields: {
    readonly typeUrl: string;
    readonly resourceNamesSubscribe?: string[];
    readonly initialResourceVersions?: { [name: string]: string };
    readonly responseNonce?: string;
  },
): readonly StreamEffect[] {
  const bytes = toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { node, ...fields }));
  return stream.step({ kind: "request", bytes });
}

function give(stream: Stream, snapshot: Snapshot): void {
  assert.deepEqual(stream.step({ kind: "snapshot", snapshot }), []);
}

function take(stream: Stream): OutgoingResponse {
  const response = stream.next();
  assert.ok(response, "a response is due");
  return response;
}

function sotwOf({ body, tail }: OutgoingResponse) {
  return fromBinary(DiscoveryResponseSchema, Uint8Array.from([...body.bytes, ...tail]));
}

function deltaOf({ body, tail }: OutgoingResponse) {
  const response = fromBinary(DeltaDiscoveryResponseSchema, Uint8Array.from([...body.bytes, ...tail]));
  return {
    has: response.resources.map(({ name }) => name).sort(),
    removes: [...response.removedResources].sort(),
    nonce: response.nonce,
  };
}

test("streams that need the same share one body; only the nonce is their own", () => {
  const one = updateSnapshot(emptySnapshot(), { upsert: ["a", "b", "c"].map((name) => endpoint(name)) });
  const two = updateSnapshot(one, { upsert: [endpoint("a", "x"), endpoint("c", "x")] });
  for (const variant of ["sotw", "delta"] as const) {
    const streams = [open(variant), open(variant)];
    for (const [index, stream] of streams.entries()) {
      // The names come in any order, and one client got other resources before.
      const names = index === 0 ? ["a", "b"] : ["b", "a"];
      if (index === 0) (variant === "sotw" ? ask : askDelta)(stream, { typeUrl: clusterUrl });
      if (variant === "sotw") ask(stream, { typeUrl: endpointUrl, resourceNames: names });
      else askDelta(stream, { typeUrl: endpointUrl, resourceNamesSubscribe: names });
      give(stream, one);
    }
    const first = streams.map((stream) => [...rest(stream)].at(-1));
    assert.equal(first[0]?.body, first[1]?.body);
    for (const stream of streams) give(stream, two);
    const second = streams.map(take);
    assert.equal(second[0]?.body, second[1]?.body);
    assert.equal(second[0]?.resources, 1);
    assert.notDeepEqual(second[0]?.body.bytes, first[0]?.body.bytes);
  }
});

test("a full state is encoded once for clients that were sent different sets before", () => {
  let snapshot = updateSnapshot(emptySnapshot(), { upsert: [cluster("a"), cluster("b")] });
  const early = open("sotw");
  ask(early, { typeUrl: clusterUrl });
  give(early, snapshot);
  take(early);
  snapshot = updateSnapshot(snapshot, { upsert: [cluster("a", "x")] });
  const late = open("sotw");
  ask(late, { typeUrl: clusterUrl });
  for (const stream of [early, late]) give(stream, snapshot);
  assert.equal(take(early).body, take(late).body);
});

test("a slow client gets one composed change, however many changes there were", () => {
  for (const variant of ["sotw", "delta"] as const) {
    const stream = open(variant);
    if (variant === "sotw") ask(stream, { typeUrl: endpointUrl, resourceNames: ["a", "b", "c"] });
    else askDelta(stream, { typeUrl: endpointUrl, resourceNamesSubscribe: ["a", "b", "c"] });
    let snapshot = updateSnapshot(emptySnapshot(), { upsert: ["a", "b", "c"].map((name) => endpoint(name)) });
    give(stream, snapshot);
    take(stream);
    const type = endpoint("a").type;
    for (let round = 0; round < 50; round++) {
      snapshot = updateSnapshot(snapshot, { upsert: [endpoint("a", `${round}`), endpoint("b", `${round}`)] });
      give(stream, snapshot);
      snapshot = updateSnapshot(snapshot, { upsert: [endpoint("b")], remove: [{ type, name: "c" }] });
      give(stream, snapshot);
    }
    const response = take(stream);
    assert.equal(stream.next(), undefined);
    if (variant === "delta") assert.deepEqual(deltaOf(response), { has: ["a"], removes: ["c"], nonce: "2" });
    else assert.equal(sotwOf(response).resources.length, 1);
  }
});

test("a client whose responses are not pulled keeps one set of differences alive, not every snapshot in between", async () => {
  const stream = open("sotw");
  ask(stream, { typeUrl: endpointUrl, resourceNames: ["a"] });
  let snapshot = updateSnapshot(emptySnapshot(), { upsert: [endpoint("a")] });
  give(stream, snapshot);
  take(stream);
  const between: WeakRef<object>[] = [];
  for (let round = 0; round < 20; round++) {
    const resource = endpoint("a", `${round}`);
    snapshot = updateSnapshot(snapshot, { upsert: [resource] });
    if (round < 18) between.push(new WeakRef(resource));
    give(stream, snapshot);
  }
  await assertCollected(between);
});

for (const error of [undefined, { code: 3, message: "no" }]) {
  const manner = error === undefined ? "acknowledged" : "rejected";
  test(`a client that ${manner} everything and that no change concerns keeps one set of differences alive`, async () => {
    const stream = open("sotw");
    ask(stream, { typeUrl: endpointUrl, resourceNames: ["a"] });
    let snapshot = updateSnapshot(emptySnapshot(), { upsert: [endpoint("a"), endpoint("b")] });
    give(stream, snapshot);
    const { nonce, version } = take(stream);
    const versionInfo = error === undefined ? version : "";
    const answer = { typeUrl: endpointUrl, resourceNames: ["a"], responseNonce: nonce, versionInfo };
    ask(stream, error === undefined ? answer : { ...answer, errorDetail: error });
    const between: WeakRef<object>[] = [];
    for (let round = 0; round < 20; round++) {
      const resource = endpoint("b", `${round}`);
      snapshot = updateSnapshot(snapshot, { upsert: [resource] });
      if (round < 12) between.push(new WeakRef(resource));
      give(stream, snapshot);
      assert.equal(stream.next(), undefined);
    }
    await assertCollected(between);
  });
}

test("the message of a rejection is told without the white space at its end, which Envoy's messages may have", () => {
  const stream = open("sotw");
  ask(stream, { typeUrl: clusterUrl });
  give(stream, updateSnapshot(emptySnapshot(), { upsert: [cluster("a")] }));
  const { nonce } = take(stream);
  const errorDetail = { code: 3, message: "Error adding/updating cluster(s) a: no\nsuch thing \n\n" };
  const told = ask(stream, { typeUrl: clusterUrl, responseNonce: nonce, errorDetail }).find(
    ({ kind }) => kind === "rejected",
  );
  assert.equal(told?.kind === "rejected" && told.message, "Error adding/updating cluster(s) a: no\nsuch thing");
});

test("a client that takes the first response of a pass and no more keeps one set of differences of each type alive, then gets the rest", async () => {
  const stream = open("sotw");
  ask(stream, { typeUrl: clusterUrl });
  ask(stream, { typeUrl: endpointUrl, resourceNames: ["a"] });
  // No client asks for routes, but the snapshot of the pass has them.
  const route = (label: string) =>
    createResource(create(RouteConfigurationSchema, { name: "r", virtualHosts: [{ name: label }] }));
  const of = (label: string) => [cluster("a", label), endpoint("a", label), route(label)];
  let snapshot = updateSnapshot(emptySnapshot(), { upsert: of("first") });
  give(stream, snapshot);
  for (const _ of rest(stream));
  snapshot = updateSnapshot(snapshot, { upsert: of("begun") });
  give(stream, snapshot);
  const begun = [take(stream).version];
  const due = snapshot.of(endpoint("a").type).version;
  const between: WeakRef<object>[] = [];
  for (let round = 0; round < 20; round++) {
    const resources = of(`${round}`);
    snapshot = updateSnapshot(snapshot, { upsert: resources });
    if (round < 18) between.push(...resources.map((resource) => new WeakRef(resource)));
    give(stream, snapshot);
  }
  await assertCollected(between);
  begun.push(take(stream).version);
  assert.equal(begun[1], due);
  const newest = [...rest(stream)].map(({ version }) => version);
  assert.deepEqual(
    newest,
    [cluster("a").type, endpoint("a").type].map((type) => snapshot.of(type).version),
  );
});

test("a reconnecting delta client that is up to date gets nothing, and the claims are not even read as names", () => {
  const resources = ["a", "b", "ü"].map((name) => cluster(name));
  const snapshot = updateSnapshot(emptySnapshot(), { upsert: resources });
  const current = Object.fromEntries(resources.map(({ name, version }) => [name, version]));
  const stream = open("delta");
  askDelta(stream, { typeUrl: clusterUrl, initialResourceVersions: current });
  give(stream, snapshot);
  assert.equal(stream.next(), undefined);

  const stale = open("delta");
  askDelta(stale, { typeUrl: clusterUrl, initialResourceVersions: { ...current, a: "old", gone: "1" } });
  give(stale, snapshot);
  assert.deepEqual(deltaOf(take(stale)), { has: ["a"], removes: ["gone"], nonce: "1" });
});

test("a load assignment that a reconnecting client has is sent if and only if its cluster is sent, whichever request came first", () => {
  const clusters = [cluster("a"), cluster("b")];
  const endpoints = [endpoint("a"), endpoint("b")];
  const snapshot = updateSnapshot(emptySnapshot(), { upsert: [...clusters, ...endpoints] });
  const claims = (list: readonly Resource[], stale: string) =>
    Object.fromEntries(list.map(({ name, version }) => [name, name === stale ? "old" : version]));
  for (const order of ["cluster, both read", "cluster, answer, endpoint", "endpoint first"]) {
    const stream = open("delta");
    give(stream, snapshot);
    const steps = [
      () => askDelta(stream, { typeUrl: clusterUrl, initialResourceVersions: claims(clusters, "a") }),
      () =>
        askDelta(stream, {
          typeUrl: endpointUrl,
          resourceNamesSubscribe: ["a", "b"],
          initialResourceVersions: claims(endpoints, ""),
        }),
    ];
    if (order === "endpoint first") steps.reverse();
    const sent: OutgoingResponse[] = [];
    for (const step of steps) {
      step();
      if (order.includes("answer")) sent.push(...rest(stream));
    }
    sent.push(...rest(stream));
    assert.deepEqual(
      sent.map((response) => [response.type.name, deltaOf(response).has]),
      [
        ["cluster", ["a"]],
        ["endpoint", ["a"]],
      ],
      order,
    );
  }
});

test("a client is told that a listener with virtual hosts on demand has none yet, whichever request came first", () => {
  const configSource = { configSourceSpecifier: { case: "ads", value: {} } as const };
  const route = createResource(create(RouteConfigurationSchema, { name: "r", vhds: { configSource } }));
  const plain = createResource(create(RouteConfigurationSchema, { name: "plain" }));
  const snapshot = updateSnapshot(emptySnapshot(), { upsert: [route, plain] });
  for (const order of [
    ["route", "virtual-host"],
    ["virtual-host", "route"],
  ]) {
    const stream = open("delta");
    give(stream, snapshot);
    const sent: OutgoingResponse[] = [];
    for (const name of order) {
      const typeUrl = resourceTypes.find(name)?.typeUrl ?? "";
      askDelta(stream, { typeUrl, resourceNamesSubscribe: name === "route" ? ["r", "plain"] : [] });
      sent.push(...rest(stream));
    }
    assert.deepEqual(
      sent.map((response) => [response.type.name, deltaOf(response).has]),
      [
        ["route", ["plain", "r"]],
        ["virtual-host", ["r/"]],
      ],
    );
  }
});

test("a stream that has ended takes nothing and sends nothing", () => {
  const stream = open("sotw");
  ask(stream, { typeUrl: clusterUrl });
  give(stream, updateSnapshot(emptySnapshot(), { upsert: [cluster("a")] }));
  const [effect] = ask(stream, { typeUrl: "" });
  assert.equal(effect?.kind, "close");
  assert.deepEqual(ask(stream, { typeUrl: clusterUrl }), []);
  assert.equal(stream.next(), undefined);
});

const limits = { namesPerRequest: 3, namesPerStream: 4, nodeBytes: 100, typesPerStream: 2 };
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `name-${index}`);

test("a limit ends the stream with RESOURCE_EXHAUSTED, and the message names the limit (rule 162)", () => {
  const tooMany = open("sotw", { limits });
  assert.deepEqual(ask(tooMany, { typeUrl: endpointUrl, resourceNames: names(4) }).at(-1), {
    kind: "close",
    code: 8,
    message: "a request has more than 3 resource names (names_per_request)",
  });

  const claiming = open("delta", { limits });
  const initialResourceVersions = Object.fromEntries(names(4).map((name) => [name, "1"]));
  assert.deepEqual(askDelta(claiming, { typeUrl: clusterUrl, initialResourceVersions }), [
    {
      kind: "close",
      code: 8,
      message: "a request claims to have more than 3 resources (names_per_request)",
    },
  ]);

  const growing = open("delta", { limits });
  askDelta(growing, { typeUrl: endpointUrl, resourceNamesSubscribe: names(3) });
  askDelta(growing, { typeUrl: clusterUrl, resourceNamesSubscribe: ["x"] });
  assert.deepEqual(askDelta(growing, { typeUrl: clusterUrl, resourceNamesSubscribe: ["y"] }).at(-1), {
    kind: "close",
    code: 8,
    message: "the stream names 5 resources, and at most 4 are allowed",
  });

  const large = open("sotw", { limits });
  const extensions = [{ name: "x".repeat(200) }];
  assert.equal(askAs(large, { id: "n", extensions }).at(0)?.kind, "identified");
  assert.deepEqual(askAs(open("sotw", { limits }), { id: "n".repeat(99) }), [
    {
      kind: "close",
      code: 8,
      message: "the node takes 101 bytes without its extensions, and at most 100 are allowed",
    },
  ]);

  const curious = open("sotw", { limits });
  for (const type of ["1", "2"]) assert.notEqual(ask(curious, { typeUrl: `x/${type}` }).at(-1)?.kind, "close");
  assert.deepEqual(ask(curious, { typeUrl: "x/3" }).at(-1), {
    kind: "close",
    code: 8,
    message: "the stream asks for more than 2 resource types",
  });
});

test("the names of a stream are bounded in length too, however they come (rule 162)", () => {
  const long = (index: number) => `${index}`.padEnd(400_000, "x");
  const subscribed = open("delta", { limits });
  for (const index of [1, 2]) {
    const effects = askDelta(subscribed, { typeUrl: endpointUrl, resourceNamesSubscribe: [long(index)] });
    assert.ok(effects.every(({ kind }) => kind !== "close"));
  }
  const [end] = askDelta(subscribed, { typeUrl: endpointUrl, resourceNamesSubscribe: [long(3)] });
  assert.ok(end?.kind === "close" && end.code === 8, "names that stay");

  const dropped = open("delta", { limits });
  askDelta(dropped, { typeUrl: clusterUrl });
  const ask = (index: number) =>
    dropped.step({
      kind: "request",
      bytes: toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, {
          typeUrl: clusterUrl,
          resourceNamesSubscribe: [long(index)],
          resourceNamesUnsubscribe: [long(index)],
        }),
      ),
    });
  const ends = [1, 2, 3].flatMap(ask).filter(({ kind }) => kind === "close");
  assert.equal(ends.length, 1, "names that wait for their answers");
});

test("a client that answers nothing costs a bounded memory, and the newest answers count", () => {
  const stream = open("delta");
  askDelta(stream, { typeUrl: clusterUrl });
  let snapshot = emptySnapshot();
  for (let round = 0; round < 40; round++) {
    snapshot = updateSnapshot(snapshot, { upsert: [cluster("a", `${round}`)] });
    give(stream, snapshot);
    take(stream);
  }
  assert.deepEqual(askDelta(stream, { typeUrl: clusterUrl, responseNonce: "8" }), []);
  assert.equal(askDelta(stream, { typeUrl: clusterUrl, responseNonce: "9" })[0]?.kind, "acknowledged");
  assert.equal(askDelta(stream, { typeUrl: clusterUrl, responseNonce: "40" })[0]?.kind, "acknowledged");
  assert.deepEqual(askDelta(stream, { typeUrl: clusterUrl, responseNonce: "40" }), []);
});

function* rest(stream: Stream): Iterable<OutgoingResponse> {
  for (let response = stream.next(); response !== undefined; response = stream.next()) yield response;
}
