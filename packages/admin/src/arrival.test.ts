import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport } from "@xdskit/server";
import { EventReader } from "./testing/event-reader.js";
import { cluster, runningApi } from "./testing/running-api.js";

describe("the arrival of a revision", () => {
  it("counts who acknowledged, rejected, and is silent, with the client's words", async () => {
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
    assert.deepEqual((await api.ask("GET", path)).body.counts, { acknowledged: 0, rejected: 0, pending: 3 });
    good.acknowledge();
    bad.reject('no: password: "hunter2"');
    const arrival = await until(
      async () => (await api.ask("GET", path)).body,
      ({ counts }) => counts.acknowledged === 1 && counts.rejected === 1,
    );
    assert.deepEqual(arrival.counts, { acknowledged: 1, rejected: 1, pending: 1 });
    const [rejected, pending] = arrival.nodes;
    assert.deepEqual([rejected.id, rejected.group, rejected.state], ["bad", "all", "rejected"]);
    assert.equal(rejected.message, 'cluster: no: password: "[redacted]"');
    assert.deepEqual([pending.id, pending.state, pending.message], ["silent", "pending", "cluster: not-answered"]);
    const told = await events.seen(({ event, data }) => event === "problem" && data.kind === "rejected");
    assert.deepEqual([told.data.node, told.data.message], ["bad", 'no: password: "[redacted]"']);
  });

  it("waits for what comes to light where a resource of a higher layer is removed", async () => {
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
    assert.deepEqual(await counts(), { acknowledged: 0, rejected: 0, pending: 1 });
    node.acknowledge();
    await until(counts, ({ acknowledged }) => acknowledged === 1);
  });

  it("is nothing where no stream asks for it", async () => {
    await using api = await runningApi();
    const { body } = await api.ask("POST", "layers/api/changes", { upsert: [cluster("a")] });
    const arrival = await api.ask("GET", `revisions/${body.revision.id}/arrival`);
    assert.deepEqual(arrival.body.counts, { acknowledged: 0, rejected: 0, pending: 0 });
    assert.deepEqual(arrival.body.nodes, []);
    assert.equal((await api.ask("GET", "revisions/none/arrival")).status, 404);
  });
});

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A client that has acknowledged what there was, and now answers when it is told to. */
async function client(transport: ReturnType<typeof createMemoryTransport>, id: string) {
  const responses: DiscoveryResponse[] = [];
  const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
  const stream = transport.open("memory", ads, (bytes) => responses.push(fromBinary(DiscoveryResponseSchema, bytes)));
  const send = (request: Parameters<typeof create<typeof DiscoveryRequestSchema>>[1]) =>
    stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { typeUrl: clusterUrl, ...request })));
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
  send({ node: { id } });
  await next(1);
  answer();
  return {
    next: () => next(2),
    acknowledge: () => answer(),
    reject: (message: string) => answer({ code: 13, message }),
  };
}

/** What a question is answered with, once the answer fits. */
async function until<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never fits");
}
