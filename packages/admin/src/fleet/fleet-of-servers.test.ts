import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport } from "@xdskit/server";
import type { NodeRow } from "../contract/fleet.js";
import { runningApi } from "../testing/running-api.js";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const endpoints = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

interface NodeJson {
  readonly id: string;
  readonly state: string;
  readonly streams: readonly object[];
}

/** Two servers, of which the first asks the second. */
async function twoServers(answering: () => void = () => {}) {
  const folder = [createResource(create(ClusterSchema, { name: "a" }))];
  const two = await runningApi({ folder, replica: "two" });
  const asked: string[] = [];
  let failure: Error | undefined;
  const ask = async (question: string, about: unknown) => {
    asked.push(question);
    answering();
    if (failure !== undefined) throw failure;
    return JSON.parse(JSON.stringify(await two.answers[question]?.(about as never)));
  };
  const one = await runningApi({ folder, replica: "one", peers: () => [{ name: "two", ask }] });
  const get = (path: string) => one.ask("GET", path);
  return {
    one,
    two,
    asked,
    get,
    fail(error: Error | undefined): void {
      failure = error;
    },
    connect: (api: typeof one, ...ids: readonly string[]) => connect(api, clusters, ids),
    /** Asks for no resource, so that nothing is missing. */
    connectSynced: (api: typeof one, ...ids: readonly string[]) => connect(api, endpoints, ids),
  };
}

async function connect({ server }: Awaited<ReturnType<typeof runningApi>>, typeUrl: string, ids: readonly string[]) {
  const transport = createMemoryTransport();
  await server.listenOn(transport, "memory");
  const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
  for (const id of ids) {
    const stream = transport.open("memory", ads, () => {});
    stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl })));
  }
  for (let tries = 0; ids.some((id) => server.node(id) === undefined); tries += 1) {
    assert.ok(tries < 1_000, "they do not connect");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("the fleet of several servers", () => {
  it("names a server that does not answer, and does not call a node unknown that may be there", async () => {
    const { one, two, get, fail, connect } = await twoServers();
    await using _ = one;
    await using __ = two;
    await connect(one, "here", "both");
    await connect(two, "there", "both");
    assert.equal((await get("nodes/there")).status, 200);
    assert.equal((await get("nodes/both")).body.streams.length, 2);
    assert.equal((await get("nodes/nowhere")).status, 404);
    const silent = [{ replica: "two", reason: "it did not answer within 3 s" }];
    fail(new Error("it did not answer within 3 s"));
    for (const path of ["", "/resources", "/timeline", "/resources/cluster/a"]) {
      const { status, body } = await get(`nodes/there${path}`);
      assert.deepEqual([status, body.code], [503, "XDSKIT_REPLICA_SILENT"], path);
      assert.match(body.detail, /node "there" may be at two: it did not answer within 3 s/);
    }
    assert.deepEqual((await get("nodes/both")).body.silent, silent);
    const { body } = await get("nodes");
    assert.deepEqual([body.nodes.map(({ id }: { id: string }) => id).sort(), body.silent], [["both", "here"], silent]);
  });

  it("has a node with streams at two servers once, and it fits the filter of either", async () => {
    const { one, two, get, connect } = await twoServers();
    await using _ = one;
    await using __ = two;
    await connect(one, "here", "both");
    await connect(two, "there", "both");
    const found = async (filter: string) =>
      (await get(`fleet/nodes?${filter}`)).body.nodes.map(({ id, replicas }: NodeRow) => [id, ...replicas].join(" "));
    const [both, here, there] = ["both one two", "here one", "there two"];
    assert.deepEqual(await found(""), [both, here, there]);
    assert.deepEqual(await found("replica=one"), [both, here]);
    assert.deepEqual(await found("replica=two"), [both, there]);
    const { replicas, nodes } = (await get("fleet/summary?replica=two")).body;
    const counts = replicas.map(({ name, states }: { name: string; states: object }) => [
      name,
      Object.values(states).reduce((sum, count) => sum + count, 0),
    ]);
    assert.deepEqual(
      [nodes, counts],
      [
        2,
        [
          ["one", 1],
          ["two", 2],
        ],
      ],
    );
    assert.deepEqual((await get("fleet/nodes?replica=three")).body.known, ["one", "two"]);
  });

  it("lists a node by the state that all its parts have together", async () => {
    const { one, two, get, connect, connectSynced } = await twoServers();
    await using _ = one;
    await using __ = two;
    // Nobody acknowledges the clusters.
    await connect(one, "b-both", "d-here");
    await connectSynced(two, "a-synced", "b-both", "c-synced");
    const found = async (filter: string) => {
      const { nodes, next } = (await get(`nodes?${filter}`)).body;
      return [...nodes.map(({ id, state, streams }: NodeJson) => `${id} ${state} ${streams.length}`), next];
    };
    assert.deepEqual(await found("state=synced"), ["a-synced synced 1", "c-synced synced 1", undefined]);
    assert.deepEqual(await found("state=synced&limit=1"), ["a-synced synced 1", "a-synced"]);
    assert.deepEqual(await found("state=synced&limit=1&after=a-synced"), ["c-synced synced 1", undefined]);
    assert.deepEqual(await found("state=pending"), ["b-both pending 2", "d-here pending 1", undefined]);
  });

  it("is looked at again soon, however long a server did not answer", async (t) => {
    let now = performance.now();
    const { one, two, get, asked, fail } = await twoServers(() => {
      now += 3_000;
    });
    await using _ = one;
    await using __ = two;
    t.mock.method(performance, "now", () => now);
    const silent = async () => (await get("fleet/summary")).body.silent.length;
    const looks = () => asked.filter((question) => question === "fleet.rows").length;
    fail(new Error("it did not answer within 3 s"));
    assert.deepEqual([await silent(), await silent(), looks()], [1, 1, 1]);
    fail(undefined);
    now += 1_000;
    assert.deepEqual([await silent(), looks()], [0, 2]);
  });

  it("is given in pages, for which each server is asked once", async () => {
    const { one, two, get, asked, connect } = await twoServers();
    await using _ = one;
    await using __ = two;
    const ids = Array.from({ length: 1_100 }, (_, index) => `n${String(index).padStart(4, "0")}`);
    await connect(two, ...ids);
    await connect(one, "n0003", "z");
    const { nodes, next, silent } = (await get("nodes")).body;
    const { nodes: later, next: end } = (await get(`nodes?after=${next}`)).body;
    const all = [...nodes, ...later].map(({ id }: { id: string }) => id);
    assert.deepEqual([all, silent, end], [[...ids, "z"], undefined, undefined]);
    assert.deepEqual([nodes.length, nodes[3].streams.length], [1_000, 2]);
    assert.equal(asked.filter((question) => question === "fleet.nodes").length, 2);
  });
});
