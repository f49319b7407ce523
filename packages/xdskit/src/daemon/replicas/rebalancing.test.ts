import assert from "node:assert/strict";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { it, type TestContext } from "node:test";
import { createClient } from "@xdskit/client";
import { createServer } from "@xdskit/server";
import { waitFor } from "../../../../grpc-server/src/testing/wait-for.js";
import { cluster } from "../../../../server/src/testing/test-resources.js";
import { Rebalancing } from "./rebalancing.js";

/** A server that its balancer knows from now on. */
async function startServer(t: TestContext, all: { connections(): number }[]) {
  const server = createServer({ keepalive: { maxAgeGraceMs: 50 } });
  server.config.set([cluster("a")]);
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const others = async () => all.filter((one) => one !== server).map((one) => one.connections());
  const times = { look: 50, wave: 300, rest: 300, maxRest: 1_000 };
  const rebalancing = new Rebalancing({ server, others, times, asked: () => {} });
  all.push(server);
  t.after(async () => {
    await rebalancing.close();
    await server.close({ timeoutMs: 200 });
  });
  return { server, port: Number(grpc.split(":")[1]) };
}

/** Gives each connection to the next server. */
async function startBalancer(t: TestContext, ports: readonly number[]): Promise<string> {
  const open = new Set<Socket>();
  let turn = 0;
  const balancer = createTcpServer((client) => {
    turn += 1;
    const upstream = connect(ports[turn % ports.length] ?? 0, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of open) socket.destroy();
    balancer.close();
  });
  const address = balancer.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

it("clients come to a server that was added, and lose nothing on the way", async (t) => {
  const all: { connections(): number }[] = [];
  const [one, two] = [await startServer(t, all), await startServer(t, all)];
  const ports = [one.port, two.port];
  const address = await startBalancer(t, ports);
  const lost: string[] = [];
  let found = 0;
  for (let index = 0; index < 30; index += 1) {
    const client = createClient({ servers: [address], node: { id: `n${index}` } });
    client.watch("cluster", "a", {
      onChanged() {
        found += 1;
      },
      onError: ({ message }) => void lost.push(`n${index}: ${message}`),
    });
    t.after(() => client.close());
  }
  await waitFor("all have it", () => found === 30);
  await waitFor("all are there", () => one.server.connections() + two.server.connections() === 30);
  const three = await startServer(t, all);
  ports.push(three.port);
  await waitFor("it has its part", () => three.server.connections() >= 8, 20_000);
  await waitFor("all are back", () => all.reduce((sum, each) => sum + each.connections(), 0) === 30, 20_000);
  assert.deepEqual([found, lost], [30, []]);
});
