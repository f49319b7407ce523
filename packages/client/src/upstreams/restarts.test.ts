import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createServer, type XdsServer } from "@xdskit/server";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import { effort } from "../testing/effort.js";
import { assignment, oddCluster } from "../testing/odd/odd-responses.js";
import { randomFrom } from "../testing/random.js";
import { type Told, watchCluster, watchClusters } from "../testing/told.js";
import { waitFor } from "../testing/wait-for.js";

const restarts = Math.ceil(25 * Math.min(effort, 1));
const names = ["a", "b", "c", "d", "e"];
const seed = Number(process.env.SEED ?? 7);

/** The configuration of a moment: some of the names, each with the number of the moment. */
interface World {
  readonly clusters: ReadonlyMap<string, string>;
}

/** A server that counts every stream; two open ones for one client and method are a fault. */
async function serve(world: World, address: string, doubled: string[]): Promise<XdsServer> {
  const server = createServer();
  const open = new Map<string, number>();
  server.on((event) => {
    if (event.kind !== "stream-opened" && event.kind !== "stream-closed") return;
    const { method, node } = event.stream;
    const key = `${node.id} ${method.only?.name ?? "all"}`;
    const count = (open.get(key) ?? 0) + (event.kind === "stream-opened" ? 1 : -1);
    open.set(key, count);
    if (count > 1) doubled.push(key);
  });
  server.config.set(messagesOf(world));
  await server.listen({ grpc: address });
  return server;
}

function messagesOf({ clusters }: World) {
  return [...clusters].flatMap(([name, content]) => [oddCluster(name, content), assignment(name)]);
}

function textOf({ clusters }: World): string {
  return [...clusters].map((entry) => entry.join("=")).join(" ");
}

async function freeAddress(): Promise<string> {
  const server = createServer();
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  await server.close({ timeoutMs: 0 });
  return grpc;
}

async function lives(t: TestContext, variant: "sotw" | "delta", aggregated: boolean): Promise<void> {
  const chance = randomFrom(seed);
  const random = () => chance(1_000) / 1_000;
  let moment = 0;
  const next = (): World => {
    const content = `${++moment}`;
    return { clusters: new Map(names.filter(() => random() < 0.7).map((name) => [name, content])) };
  };
  const address = await freeAddress();
  const doubled: string[] = [];
  const client = createClient({
    servers: [{ kind: "grpc", address, variant, aggregated }],
    node: { id: "n" },
    backoff: { firstMs: 5, maxMs: 40 },
    // SotW does not report absent names, so a timeout does.
    absentAfterMs: 400,
  });
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  let server: XdsServer | undefined;
  t.after(async () => {
    await client.close();
    await server?.close({ timeoutMs: 0 });
  });
  const watched = new Map<string, Told>(names.map((name) => [name, watchCluster(client, name)]));
  const all = watchClusters(client);
  client.watch("endpoint", "a", { onChanged() {} });
  let world = next();
  const isThere = () =>
    all.now === textOf(world) &&
    names.every((name) => {
      const content = world.clusters.get(name);
      return watched.get(name)?.now === (content === undefined ? "" : `${name}=${content}`);
    });
  const converged = () => waitFor(`${textOf(world)}; has ${all.now} (SEED=${seed})`, isThere);

  for (let count = 0; count < restarts; count++) {
    if (random() < 0.5) world = next();
    server = await serve(world, address, doubled);
    if (random() < 0.3) await converged();
    else await delay(random() * 60);
    for (let changes = random() * 3; changes > 1; changes--) {
      world = next();
      server.config.set(messagesOf(world));
      await delay(random() * 10);
    }
    if (random() < 0.5) await converged();
    await server.close({ timeoutMs: random() < 0.7 ? 0 : 200 });
    if (random() < 0.5) await delay(random() * 50);
  }
  world = next();
  server = await serve(world, address, doubled);
  await converged();
  // No watcher was lost: each gets a further change, and one more.
  for (let count = 0; count < 2; count++) {
    world = { clusters: new Map(names.map((name) => [name, `last ${count}`])) };
    server.config.set(messagesOf(world));
    await converged();
  }
  // Every waiting connection opens in the end, and then everything exists once.
  const streams = aggregated ? 1 : 2;
  const open = () => server?.stats().streams.reduce((sum, each) => sum + each.open, 0);
  await waitFor("all streams", () => open() === streams);
  const count = (kind: ClientEvent["kind"]) => events.filter((event) => event.kind === kind).length;
  assert.equal(count("connected") - count("disconnected"), streams);
  assert.deepEqual(doubled, [], "a stream was there twice");
  assert.equal(count("rejected") + count("watcher-failed"), 0);
  await client.close();
  await waitFor("no stream to be left", () => open() === 0);
}

describe(`a server that is started and ended ${restarts} times while its resources change`, () => {
  for (const variant of ["sotw", "delta"] as const) {
    for (const aggregated of [true, false]) {
      const how = `${variant}, ${aggregated ? "ADS" : "per type"}`;
      test(`a restarting server leaves the client with the final state, no stream twice, and all its watchers: ${how}`, (t) =>
        lives(t, variant, aggregated));
    }
  }
});
