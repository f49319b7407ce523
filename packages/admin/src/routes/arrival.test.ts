import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryStore, createMemoryTransport, type HeadsListener } from "@xdskit/server";
import type { ArrivalPart } from "../answers/arrival-parts.js";
import { EventReader } from "../testing/event-reader.js";
import { cluster, runningApi } from "../testing/running-api.js";

describe("the arrival of a revision", () => {
  it("counts the nodes that acknowledged, rejected, and are silent, with the client's words", async () => {
    await using api = await runningApi();
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("old")] });
    const transport = createMemoryTransport();
    await api.server.listenOn(transport, "memory");
    await using events = await EventReader.open(api.base);
    const good = await client(transport, "good");
    const bad = await client(transport, "bad");
    const silent = await client(transport, "silent");
    await events.seen(({ event, data }) => event === "node" && data.node === "silent" && data.state === "connected");
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("new")] });
    const path = `revisions/${body.revision.id}/arrival`;
    for (const one of [good, bad, silent]) await one.next();
    assert.deepEqual((await api.ask("GET", path)).body.counts, {
      acknowledged: 0,
      rejected: 0,
      pending: 3,
      "held-back": 0,
    });
    good.acknowledge();
    bad.reject('no: password: "hunter2"');
    const arrival = await until(
      async () => (await api.ask("GET", path)).body,
      ({ counts }) => counts.acknowledged === 1 && counts.rejected === 1,
    );
    assert.deepEqual(arrival.counts, { acknowledged: 1, rejected: 1, pending: 1, "held-back": 0 });
    const { groups } = (await api.ask("GET", `revisions/${body.revision.id}/stages`)).body;
    assert.equal(groups.length, 1);
    const [{ group, stages }] = groups;
    assert.deepEqual([group, stages.length], ["all", 1]);
    assert.deepEqual(stages[0].changes[0].added, ["new"]);
    assert.deepEqual(stages[0].counts, { acknowledged: 1, rejected: 1, pending: 1, "held-back": 0 });
    const [rejected, pending] = arrival.nodes;
    assert.deepEqual([rejected.id, rejected.group, rejected.state], ["bad", "all", "rejected"]);
    assert.equal(rejected.message, 'cluster: no: password: "[redacted]"');
    assert.deepEqual([pending.id, pending.state, pending.message], ["silent", "pending", "cluster: waits for its ACK"]);
    const told = await events.seen(({ event, data }) => event === "problem" && data.kind === "rejected");
    assert.deepEqual([told.data.node, told.data.message], ["bad", 'no: password: "[redacted]"']);
  });

  it("tells which nodes run the newest revision of their layers, and which do not", async () => {
    await using api = await runningApi();
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("old")] });
    await api.ask("POST", "layers/under/changes", { upsert: [cluster("under")] });
    const transport = createMemoryTransport();
    await api.server.listenOn(transport, "memory");
    const good = await client(transport, "good");
    const bad = await client(transport, "bad");
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("new")] });
    for (const one of [good, bad]) await one.next();
    good.acknowledge();
    bad.reject("no");
    // It concerns none of them: who lacks what came before lacks it still.
    const routes = { "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", name: "r" };
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [routes] });
    const { id, number } = body.revision;
    const rows = async () => (await api.ask("GET", "fleet/nodes?revisions=true")).body.nodes;
    const nodes = await until(rows, (all) => all.some(({ state }: { state: string }) => state === "rejected"));
    const told = nodes.map(({ id, state, revisions }: { id: string; state: string; revisions: object[] }) => {
      return [id, state, revisions.map((one) => ({ ...one, id: undefined }))];
    });
    const under = { id: undefined, layer: "under", number: 1, isBefore: false };
    const newest = { id: undefined, layer: "api", number, isBefore: false };
    assert.deepEqual(told, [
      ["bad", "rejected", [under, { ...newest, isBefore: true }]],
      ["good", "synced", [under, newest]],
    ]);
    assert.equal(nodes[0].revisions[1].id, id);
    // Of a large fleet only those are compared that may lack something.
    const before = (await api.ask("GET", "revisions?layer=api")).body.revisions[1].id;
    const part = (await api.answers.arrival?.({ id: before, nodes: ["bad"] } as never)) as ArrivalPart | undefined;
    assert.deepEqual(part?.each, { bad: "rejected" });
    const [plain] = (await api.ask("GET", "fleet/nodes")).body.nodes;
    assert.equal("revisions" in plain, false);
  });

  it("says which revision brought what a node was sent, acknowledged and rejected", async () => {
    const store = await createMemoryStore();
    const moments = async (api: Awaited<ReturnType<typeof runningApi>>, id: string) => {
      const { body } = await api.ask("GET", `nodes/${id}/timeline`);
      return body.moments.map(({ kind, revision }: { kind: string; revision?: { layer: string; number: number } }) =>
        revision === undefined ? kind : `${kind} ${revision.layer} #${revision.number}`,
      );
    };
    {
      await using api = await runningApi({ store });
      await api.ask("POST", "layers/api/changes", { upsert: [cluster("old")] });
      const transport = createMemoryTransport();
      await api.server.listenOn(transport, "memory");
      const node = await client(transport, "picky");
      await api.ask("POST", "layers/api/changes", { upsert: [cluster("new")] });
      await node.next();
      node.reject("no");
      const told = await until(
        () => moments(api, "picky"),
        (all) => all[0].startsWith("rejected"),
      );
      assert.deepEqual(told.slice(0, 4), ["rejected api #2", "sent api #2", "acknowledged api #1", "sent api #1"]);
      // An Envoy is told of one listener of two.
      const typeUrl = "type.googleapis.com/envoy.config.listener.v3.Listener";
      const listener = (name: string, more: object) => ({ "@type": typeUrl, name, ...more });
      const address = { socketAddress: { address: "127.0.0.1", portValue: 10_000 } };
      const both = [listener("edge", { address, filterChains: [{}] }), listener("cart", { apiListener: {} })];
      await api.ask("POST", "layers/api/changes", { upsert: both });
      await client(transport, "edge", true, { typeUrl, userAgentName: "envoy" });
      await api.ask("POST", "layers/api/changes", { upsert: [cluster("newest")] });
      const ofEnvoy = await until(
        () => moments(api, "edge"),
        (all) => all[0].startsWith("acknowledged"),
      );
      assert.deepEqual(ofEnvoy.slice(0, 2), ["acknowledged api #3", "sent api #3"]);
      // However often the other one changes.
      for (let at = 0; at < 11; at += 1) {
        const upsert = [listener("cart", { apiListener: {}, statPrefix: `${at}` })];
        await api.ask("POST", "layers/api/changes", { upsert });
      }
      assert.deepEqual((await moments(api, "edge")).slice(0, 2), ofEnvoy.slice(0, 2));
    }
    // After a restart the newest one is known, and nothing of those before.
    await using again = await runningApi({ store });
    const transport = createMemoryTransport();
    await again.server.listenOn(transport, "memory");
    await client(transport, "late");
    const told = await until(
      () => moments(again, "late"),
      (all) => all.length === 3,
    );
    assert.deepEqual(told, ["acknowledged api #15", "sent api #15", "connected"]);
  });

  it("waits for the content that appears when a resource of a higher layer is removed", async () => {
    await using api = await runningApi();
    await api.ask("POST", "layers/under/changes", { upsert: [cluster("w", "1s")] });
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("w", "2s")] });
    const transport = createMemoryTransport();
    await api.server.listenOn(transport, "memory");
    await using events = await EventReader.open(api.base);
    const node = await client(transport, "node");
    await events.seen(({ event, data }) => event === "node" && data.node === "node" && data.state === "connected");
    const { body } = await api.ask("DELETE", "layers/api/resources/cluster/w");
    const counts = async () => (await api.ask("GET", `revisions/${body.revision.id}/arrival`)).body.counts;
    await node.next();
    assert.deepEqual(await counts(), { acknowledged: 0, rejected: 0, pending: 1, "held-back": 0 });
    node.acknowledge();
    await until(counts, ({ acknowledged }) => acknowledged === 1);
  });

  it("counts a node that lacks a revision that was replaced before anybody asked about it", async () => {
    await using api = await runningApi();
    await api.ask("POST", "layers/api/changes", { upsert: [cluster("a", "1s"), cluster("b", "1s")] });
    const transport = createMemoryTransport();
    await api.server.listenOn(transport, "memory");
    const node = await client(transport, "node");
    const change = async (...body: Parameters<typeof api.ask>) => (await api.ask(...body)).body.revision.id;
    const replaced = await change("POST", "layers/api/changes", { upsert: [cluster("a", "2s")] });
    const removed = await change("POST", "layers/api/changes", { upsert: [cluster("b", "2s")] });
    await change("POST", "layers/api/changes", { upsert: [cluster("a", "3s")] });
    await change("DELETE", "layers/api/resources/cluster/b");
    const ids = [replaced, removed];
    const arrivals = async (): Promise<readonly unknown[]> => {
      const each = ids.map(async (id) => (await api.ask("GET", `revisions/${id}/arrival`)).body.counts);
      const stages = ids.map(async (id) => (await api.ask("GET", `revisions/${id}/stages`)).body.groups[0].stages[0]);
      return [...(await Promise.all(each)), ...(await Promise.all(stages)).map(({ counts }) => counts)];
    };
    const pending = { acknowledged: 0, rejected: 0, pending: 1, "held-back": 0 };
    assert.deepEqual(await arrivals(), [pending, pending, pending, pending]);
    node.acknowledge();
    const acknowledged = { acknowledged: 1, rejected: 0, pending: 0, "held-back": 0 };
    await until(arrivals, (said) => isDeepStrictEqual(said, [acknowledged, acknowledged, acknowledged, acknowledged]));
  });

  it("counts no node if no stream asks for the revision", async () => {
    await using api = await runningApi();
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    const arrival = await api.ask("GET", `revisions/${body.revision.id}/arrival`);
    assert.deepEqual(arrival.body.counts, { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 });
    assert.deepEqual(arrival.body.nodes, []);
    assert.equal((await api.ask("GET", "revisions/none/arrival")).status, 404);
    assert.equal((await api.ask("GET", "revisions/none/stages")).status, 404);
  });

  it("does not take a server without nodes that started after the revision for one that has none to count", async () => {
    const store = await createMemoryStore();
    const [id, elsewhere] = await (async () => {
      await using before = await runningApi({ store });
      const change = async (layer: string, name: string) =>
        (await before.ask("POST", `layers/${layer}/changes`, { upsert: [cluster(name)] })).body.revision.id;
      const ids = [await change("api", "a"), await change("under", "b")] as const;
      const made = Date.now();
      await until(
        async () => Date.now(),
        (now) => now > made,
      );
      return ids;
    })();
    await using api = await runningApi({ store });
    const arrival = async (of = id) => (await api.ask("GET", `revisions/${of}/arrival`)).body;
    const nobody = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
    const reason = "it started after the change, and no node that the change concerns has a stream to it yet";
    const uncounted = [{ replica: "this server", reason }];
    assert.deepEqual(await arrival(), { revision: id, counts: nobody, nodes: [], uncounted });
    assert.deepEqual((await arrival(elsewhere)).uncounted, uncounted);
    const transport = createMemoryTransport();
    await api.server.listenOn(transport, "memory");
    const node = await client(transport, "node", false);
    assert.deepEqual((await arrival()).counts, { ...nobody, pending: 1 });
    node.acknowledge();
    const told = await until(arrival, ({ counts }) => counts.acknowledged === 1);
    assert.deepEqual(told.uncounted, []);
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("c")] });
    assert.deepEqual((await arrival(body.revision.id)).uncounted, []);
  });
});

describe("the arrival of a revision at several servers", () => {
  it("does not count a server that does not serve it yet, or does not answer, and says so", async () => {
    const { one, two, follow, fail, client } = await twoServers();
    await using _ = one;
    await using __ = two;
    const node = await client(two, "node");
    const { body } = await one.ask("POST", "layers/api/changes", { upsert: [cluster("new")] });
    const arrival = async () => (await one.ask("GET", `revisions/${body.revision.id}/arrival`)).body;
    const uncounted = [{ replica: "two", reason: "it does not serve the revision yet" }];
    const nobody = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
    assert.deepEqual(await arrival(), { revision: body.revision.id, counts: nobody, nodes: [], uncounted });
    follow();
    await node.next();
    const told = await until(arrival, (said) => said.uncounted.length === 0);
    assert.deepEqual(told.counts, { ...nobody, pending: 1 });
    fail(new Error("it did not answer within 3 s"));
    assert.deepEqual((await arrival()).uncounted, [{ replica: "two", reason: "it did not answer within 3 s" }]);
    fail(undefined);
    node.acknowledge();
    await until(arrival, ({ counts }) => counts.acknowledged === 1);
  });

  it("counts a node with streams to two of them once, as pending while one stream is", async () => {
    const { one, two, follow, client } = await twoServers();
    await using _ = one;
    await using __ = two;
    follow();
    const [here, there] = [await client(one, "both"), await client(two, "both")];
    const { body } = await one.ask("POST", "layers/api/changes", { upsert: [cluster("new")] });
    const counts = async () => (await one.ask("GET", `revisions/${body.revision.id}/arrival`)).body.counts;
    await Promise.all([here.next(), there.next()]);
    here.acknowledge();
    await until(counts, ({ pending, acknowledged }) => pending === 1 && acknowledged === 0);
    there.acknowledge();
    await until(counts, ({ pending, acknowledged }) => pending === 0 && acknowledged === 1);
    const { groups } = (await one.ask("GET", `revisions/${body.revision.id}/stages`)).body;
    assert.deepEqual(groups[0].stages[0].counts, { acknowledged: 1, rejected: 0, pending: 0, "held-back": 0 });
  });
});

/** Two servers on one store. The second follows it once it is told to. */
async function twoServers() {
  const store = await createMemoryStore();
  const held: (() => void)[] = [];
  let isFollowing = false;
  const later = (call: () => void) => (isFollowing ? call() : void held.push(call));
  const behind = new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === "watch")
        return (listener: HeadsListener) =>
          target.watch({ ...listener, moved: (heads) => later(() => listener.moved(heads)) });
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const two = await runningApi({ store: behind, folder: [createResource(create(ClusterSchema, { name: "old" }))] });
  let failure: Error | undefined;
  const ask = async (question: string, asked: unknown) => {
    if (failure !== undefined) throw failure;
    return JSON.parse(JSON.stringify(await two.answers[question]?.(asked as never)));
  };
  const one = await runningApi({ store, peers: () => [{ name: "two", ask }] });
  one.folder(createResource(create(ClusterSchema, { name: "old" })));
  return {
    one,
    two,
    follow(): void {
      isFollowing = true;
      for (const call of held.splice(0)) call();
    },
    fail(error: Error | undefined): void {
      failure = error;
    },
    async client(api: typeof one, id: string) {
      const transport = createMemoryTransport();
      await api.server.listenOn(transport, "memory");
      const made = await client(transport, id);
      await until(
        async () => api.server.node(id)?.state,
        (state) => state === "synced",
      );
      return made;
    },
  };
}

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A client that has acknowledged the first configuration, if it shall, and now answers when the test tells it to. */
async function client(
  transport: ReturnType<typeof createMemoryTransport>,
  id: string,
  acknowledgesFirst = true,
  { typeUrl = clusterUrl, userAgentName = "" } = {},
) {
  const responses: DiscoveryResponse[] = [];
  const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
  const stream = transport.open("memory", ads, (bytes) => responses.push(fromBinary(DiscoveryResponseSchema, bytes)));
  const send = (request: Parameters<typeof create<typeof DiscoveryRequestSchema>>[1]) =>
    stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { typeUrl, ...request })));
  const answer = (errorDetail?: { readonly code: number; readonly message: string }) => {
    const last = responses.at(-1);
    const before = responses.at(-2)?.versionInfo ?? "";
    const versionInfo = errorDetail === undefined ? (last?.versionInfo ?? "") : before;
    send({ versionInfo, responseNonce: last?.nonce ?? "", ...(errorDetail === undefined ? {} : { errorDetail }) });
  };
  const next = (count: number) =>
    until(
      async () => responses.length,
      (length) => length >= count,
    );
  send({ node: { id, userAgentName } });
  await next(1);
  if (acknowledgesFirst) answer();
  return {
    next: () => next(2),
    acknowledge: () => answer(),
    reject: (message: string) => answer({ code: 13, message }),
  };
}

/** The answer to a question, once it fits. */
async function until<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never fits");
}
