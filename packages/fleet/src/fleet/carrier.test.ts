import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createConnecting } from "@xdskit/client/connecting";
import { createServer } from "@xdskit/server";
import { waitFor, within } from "../../../grpc-server/src/testing/wait-for.js";
import { Tally } from "../figures/tally.js";
import { usualFleet } from "../testing/usual-fleet.js";
import { Carrier } from "./carrier.js";
import { Fleet } from "./fleet.js";
import type { FleetOptions } from "./fleet-options.js";
import { readInterests } from "./interests.js";

const options: FleetOptions = { ...usualFleet, nodes: 8, ads: false, nodeId: "{n}", nodesPerConnection: 4 };

it("a carrier waits once after a connection is gone, however many streams were on it, and reports the end", async (context) => {
  const server = createServer();
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const sockets = new Set<Socket>();
  let fleet: Fleet | undefined;
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const between = createTcpServer((socket) => {
    const onward = connect(Number(grpc.split(":").at(-1)), "127.0.0.1");
    socket.on("error", () => {}).on("close", () => onward.destroy());
    onward.on("error", () => {}).on("close", () => socket.destroy());
    socket.pipe(onward).pipe(socket);
    sockets.add(socket);
  }).listen(0, "127.0.0.1");
  try {
    await once(between, "listening");
    const { port } = between.address() as AddressInfo;
    const all = { ...options, servers: [{ host: "127.0.0.1", port }] };
    fleet = new Fleet(all, readInterests({ ...all, types: ["cluster", "listener"] }));
    const { nodes, tally } = fleet;
    fleet.start();
    await within("all hold everything", fleet.allComplete);

    context.mock.method(Math, "random", () => 0.5);
    const timers = context.mock.method(globalThis, "setTimeout");
    for (const socket of sockets) socket.destroy();
    await waitFor(
      "all nodes are back",
      () => tally.connections.opened === 4 && nodes.every((node) => node.isConnected),
    );
    const waits = timers.mock.calls.map(({ arguments: [, delay] }) => delay);
    assert.ok(waits.includes(500), `${waits}`);
    // Others have timers, too, but none of these.
    for (const longer of [2_000, 4_000]) assert.ok(!waits.includes(longer), `${waits}`);
    // The connection's end comes in the words of the system, or in ours.
    const errors = tally.errors();
    assert.deepEqual([...new Set(errors.map(({ status }) => status))], ["UNAVAILABLE"], JSON.stringify(errors));
  } finally {
    fleet?.close();
    between.close();
    for (const socket of sockets) socket.destroy();
    await server.close({ timeoutMs: 500 });
  }
});

it("a carrier counts several attempts as one connect, and not as a reconnect", async () => {
  const place = createTcpServer().listen(0, "127.0.0.1");
  await once(place, "listening");
  const { port } = place.address() as AddressInfo;
  await new Promise((resolve) => place.close(resolve));
  const server = createServer();
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const all = { ...options, servers: [{ host: "127.0.0.1", port }], types: ["cluster"] };
  const fleet = new Fleet(all, readInterests(all));
  const built = fleet.startedAt;
  try {
    fleet.start();
    assert.ok(fleet.startedAt > built);
    await waitFor("each carrier has failed", () => fleet.tally.connections.failed >= fleet.carriers.length);
    await server.listen({ grpc: `127.0.0.1:${port}` });
    await within("all hold everything", fleet.allComplete);
    assert.deepEqual([fleet.times.connect.count, fleet.times.reconnect.count], [all.nodes, 0]);
  } finally {
    fleet.close();
    await server.close({ timeoutMs: 500 });
  }
});

it("a carrier waits longer after each unanswered stream, and the first time again after an answered one", async (context) => {
  const connecting = createConnecting({ kind: "grpc", address: "127.0.0.1:1" });
  const target = { address: { host: "127.0.0.1", port: 1 }, connecting, userAgent: "a-test/1" };
  const carrier = new Carrier(target, [], false, { tally: new Tally(), tried: () => {} });
  const waits: (number | undefined)[] = [];
  context.mock.method(Math, "random", () => 0.5);
  context.mock.method(globalThis, "setTimeout", (callback: () => void, delay?: number) => {
    waits.push(delay);
    queueMicrotask(callback);
    return { unref: () => undefined };
  });
  for (const wasAnswered of [false, false, false, true, true, false]) {
    await new Promise<void>((resolve) => carrier.retry(resolve, wasAnswered));
  }
  assert.deepEqual(waits, [500, 1_000, 2_000, 500, 500, 1_000]);
});
