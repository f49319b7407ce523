import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createServer } from "../create-server.js";
import { grpcClient, type RawClient } from "../testing/raw-client.js";
import { ads, type Running, urlOf, withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { waitFor, within } from "../testing/wait-for.js";
import { type DeltaStream, delta } from "../testing/xds-client.js";
import { pools } from "./worker-pool.js";

/** A client on a connection of its own. */
interface Connected {
  readonly id: string;
  readonly client: RawClient;
  readonly stream: DeltaStream;
  readonly raw: ReturnType<RawClient["open"]>;
}

const typeUrl = urlOf("cluster");

/** Connects until each worker has streams: which one takes a connection is chance. */
async function connectToAll({ server, address }: Running, least: number): Promise<readonly Connected[]> {
  const connected: Connected[] = [];
  while (connected.length < least || server.stats().workers.some(({ streams }) => streams < 2)) {
    assert.ok(connected.length < 500, "one worker takes all connections");
    const id = `node-${connected.length}`;
    const client = grpcClient(resourceTypes, address);
    const raw = client.open(ads("delta"));
    const stream = delta(raw);
    stream.send({ node: { id }, typeUrl });
    const { nonce } = await stream.next();
    stream.send({ typeUrl, responseNonce: nonce });
    connected.push({ id, client, stream, raw });
    await waitFor("its node to be known", () => server.node(id) !== undefined);
  }
  return connected;
}

async function acknowledge({ stream }: Connected): Promise<readonly string[]> {
  const { nonce, resources } = await stream.next();
  stream.send({ typeUrl, responseNonce: nonce });
  return resources.map(({ name }) => name);
}

test("two workers serve one port, and a change reaches the streams of both", async () => {
  await withServer({ workers: 2 }, async (running) => {
    const { server } = running;
    server.config.set([cluster("a")]);
    const clients = await connectToAll(running, 8);
    const arrival = server.config.update({ upsert: [cluster("b")] });
    const done = within("the change to reach all", arrival.done());
    for (const client of clients) assert.deepEqual(await acknowledge(client), ["b"]);
    const { result, acknowledged } = await done;
    assert.deepEqual([result, acknowledged], ["complete", clients.length]);
    // A worker that the machine gives no time is not waited for long.
    await waitFor("all to be synced", () => server.nodeStates().synced === clients.length);
    assert.equal(server.stats().nodes, clients.length);
    await waitFor("all streams to be counted", () => {
      const [row] = server.stats().streams;
      return row?.open === clients.length && row.opened === clients.length;
    });
    for (const { client } of clients) client.close();
    await waitFor("all to have left", () => server.nodes().length === 0);
  });
});

test("what blocks the event loop of a worker is told, with whose it was", async () => {
  await withServer({ workers: 2, eventLoop: { intervalMs: 1, blockedMs: 1 } }, async (running) => {
    const { server, events } = running;
    const clients: Connected[] = [];
    const told = () =>
      new Set(events.flatMap((event) => (event.kind === "event-loop-blocked" ? event.block.worker : [])));
    for (let round = 0; round < 100 && !(told().has(1) && told().has(2)); round += 1) {
      server.config.set([cluster(`a-${round}`)]);
      clients.push(...(await connectToAll(running, 2)));
      for (const { client } of clients) client.close();
      await waitFor("all to have left", () => server.nodes().length === 0);
    }
    assert.ok(told().has(1) && told().has(2) && told().has(undefined));
    await waitFor("a worker's block among the last", () =>
      (server.stats().eventLoop?.recent ?? []).some(({ worker }) => worker !== undefined),
    );
  });
});

test("a worker that ends costs its own connections, and another takes its place", async () => {
  await withServer({ workers: 2 }, async (running) => {
    const { server, events } = running;
    server.config.set([cluster("a")]);
    const clients = await connectToAll(running, 8);
    const [first] = server.stats().workers;
    await pools.get(server)?.kill(1);
    await waitFor("another worker", () => events.some(({ kind }) => kind === "worker-started"));
    const left = clients.length - (first?.streams ?? 0);
    await waitFor("the streams of the one to be gone", () => server.nodes().length === left);
    const nodes = new Set(server.nodes().map(({ id }) => id));
    const kept = clients.filter(({ id }) => nodes.has(id));
    server.config.update({ upsert: [cluster("c")] });
    for (const client of kept) assert.deepEqual(await acknowledge(client), ["c"]);
    for (const { raw, id } of clients) if (!nodes.has(id)) await within("the end of a stream", raw.status);
    const more = await connectToAll(running, 8);
    assert.equal(server.stats().workers[0]?.restarts, 1);
    for (const { client } of [...clients, ...more]) client.close();
  });
});

test("nothing listens any more after the server is closed, also where a worker ended before it did", async () => {
  const server = createServer({ workers: 2 });
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const restarts = () => server.stats().workers[0]?.restarts;
  await pools.get(server)?.kill(1);
  await waitFor("the worker to be started again", () => restarts() === 1);
  // Its program is not loaded yet.
  await pools.get(server)?.kill(1);
  await waitFor("the worker to be started once more", () => restarts() === 2);
  await server.close({ timeoutMs: 5_000 });
  const socket = connect(Number(grpc.split(":").at(-1)), "127.0.0.1");
  const [error] = await within("the connection to be refused", once(socket, "error"));
  assert.equal((error as NodeJS.ErrnoException).code, "ECONNREFUSED");
});
