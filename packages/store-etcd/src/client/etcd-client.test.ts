import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { EtcdClient } from "./etcd-client.js";

const asIs = (bytes: Buffer): Buffer => bytes;
const codec = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
/** An empty message is an answer, too. */
const service = {
  range: { path: "/etcdserverpb.KV/Range", requestStream: false, responseStream: false, ...codec },
  watch: { path: "/etcdserverpb.Watch/Watch", requestStream: true, responseStream: true, ...codec },
};

/** A gRPC server that answers like a member, or, `hangs`, never. */
async function member(t: TestContext, { hangs = false } = {}) {
  const asked = { calls: 0 };
  const server = new Server();
  server.addService(service, {
    range: (_: unknown, answer: sendUnaryData<Buffer>) => {
      asked.calls += 1;
      if (!hangs) answer(null, Buffer.alloc(0));
    },
    watch: () => {},
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  t.after(() => server.forceShutdown());
  return { endpoint: `127.0.0.1:${port}`, port, asked };
}

/** Stands before a port. `swallow` loses all further bytes of the open connections, and tells neither end. */
async function lossyProxy(t: TestContext, port: number) {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const swallow = () => {
    for (const socket of open) {
      socket.unpipe();
      socket.resume();
    }
  };
  return { endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`, swallow };
}

describe("the client of etcd", () => {
  it("leaves a connection on which packets are lost, and makes another one", { timeout: 60_000 }, async (t) => {
    const { endpoint, swallow } = await lossyProxy(t, (await member(t)).port);
    const keepalive = { timeMs: 1_000, timeoutMs: 1_000 };
    const client = new EtcdClient({ endpoints: [endpoint], timeoutMs: 1_000, keepalive });
    t.after(() => client.close());
    await client.range({ key: "a" });
    const ended = new Promise<string>((resolve) => {
      client.watch([{ key: "a", end: "b" }], 1, { keysChanged: () => {}, ended: resolve });
    });
    swallow();
    await assert.rejects(client.range({ key: "a" }), { code: "XDSKIT_STORE" });
    const isAnswered = () =>
      client.range({ key: "a" }).then(
        () => true,
        () => false,
      );
    const until = Date.now() + 20_000;
    while (!(await isAnswered())) assert.ok(Date.now() < until, "the dead connection is still in use");
    assert.notEqual(await ended, "");
  });

  it("does not come back to a silent member where several calls failed at once", { timeout: 60_000 }, async (t) => {
    const members = [await member(t, { hangs: true }), await member(t), await member(t)];
    const client = new EtcdClient({ endpoints: members.map(({ endpoint }) => endpoint), timeoutMs: 3_000 });
    t.after(() => client.close());
    await Promise.all(["a", "b", "c"].map((key) => client.range({ key })));
    assert.equal(client.current, members[1]?.endpoint);
    assert.deepEqual(
      members.map(({ asked }) => asked.calls),
      [3, 3, 0],
    );
  });
});
