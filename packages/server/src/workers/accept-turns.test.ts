import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { grpcClient, type RawClient } from "../testing/raw-client.js";
import { ads, type Running, urlOf, withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { waitFor } from "../testing/wait-for.js";
import { delta } from "../testing/xds-client.js";
import { pools } from "./worker-pool.js";

interface Connected {
  readonly client: RawClient;
  readonly worker: number;
}

const shares = ({ server }: Running) => (pools.get(server)?.workers ?? []).map(({ streams }) => streams);
const difference = (running: Running) => Math.max(...shares(running)) - Math.min(...shares(running));

/** Connects one client after the other, each on a connection of its own, while `goesOn` says so. */
async function connectWhile(running: Running, goesOn: (connected: readonly Connected[]) => boolean) {
  const { address } = running;
  const connected: Connected[] = [];
  while (goesOn(connected)) {
    const before = shares(running);
    const client = grpcClient(resourceTypes, address);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: { id: `node-${connected.length}` }, typeUrl: urlOf("cluster") });
    await stream.next();
    const sum = before[0]! + before[1]! + 1;
    await waitFor("its stream to be known", () => shares(running)[0]! + shares(running)[1]! === sum);
    connected.push({ client, worker: shares(running)[0] === before[0] ? 2 : 1 });
  }
  return connected;
}

test("connections that come one after the other are shared evenly, also where one worker lost its own", async () => {
  await withServer({ workers: 2, limits: { streamsPerNode: 1_000 } }, async (running) => {
    running.server.config.set([cluster("a")]);
    const clients = await connectWhile(running, ({ length }) => length < 40 || difference(running) > 2);
    assert.ok(clients.length < 200, `${clients.length} connections, shared ${shares(running)}`);
    for (const { client, worker } of clients) if (worker === 2) client.close();
    await waitFor("the streams of one worker to be gone", () => shares(running)[1] === 0);
    const [kept = 0] = shares(running);
    // By chance it would take some hundreds.
    const more = await connectWhile(running, () => difference(running) > 2);
    assert.ok(more.length < 3 * kept, `${more.length} connections, shared ${shares(running)}`);
    for (const { client } of [...clients, ...more]) client.close();
  });
});

test("who has more than its share accepts again when the others are gone", async () => {
  await withServer({ workers: 2, limits: { streamsPerNode: 1_000 } }, async (running) => {
    const { server } = running;
    server.config.set([cluster("a")]);
    const clients = await connectWhile(running, ({ length }) => length < 20 || difference(running) > 2);
    for (const { client, worker } of clients) if (worker === 2) client.close();
    await waitFor("the streams of one worker to be gone", () => shares(running)[1] === 0);
    // The first has more than its share from its next connection on; without the other it has to take what comes.
    const more = await connectWhile(running, ({ length }) => length < 8);
    await pools.get(server)?.kill(2);
    const last = await connectWhile(running, ({ length }) => length < 2);
    for (const { client } of [...clients, ...more, ...last]) client.close();
  });
});
