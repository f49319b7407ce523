import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTcp, type Server, type Socket } from "node:net";
import { it } from "node:test";
import { connect as connectTls } from "node:tls";
import type { GrpcMethod } from "./calls/call.js";
import { flag } from "./frames/frames.js";
import { createGrpcServer } from "./grpc-server.js";
import { noSettings, preface } from "./testing/http2-bench.js";
import { headOf, messageOn } from "./testing/raw-http2.js";
import { waitFor, within } from "./testing/wait-for.js";

const many = 100;
/** TLS without certificates. */
const byKey = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
const psk = Buffer.alloc(16);
const opening = Buffer.concat([preface, noSettings, headOf("/test.Echo/Call", 1)]);

for (const isTls of [false, true]) {
  const over = isTls ? "TLS" : "TCP";

  /** Many clients of a server with one method, which answers once its client has said all. */
  async function setUp() {
    const told = { opened: 0, bytes: 0, finished: 0, closed: 0 };
    const accept: GrpcMethod["accept"] = (call) => {
      told.opened += 1;
      return {
        received(bytes) {
          told.bytes += bytes.length;
        },
        finished() {
          told.finished += 1;
          call.send(Buffer.from("answer"), Buffer.alloc(0));
          call.end(0, "");
        },
        drained() {},
        closed() {
          told.closed += 1;
        },
      };
    };
    const transport = createGrpcServer({
      methods: new Map([["/test.Echo/Call", { unary: false, accept }]]),
      limits: { requestBytes: 100_000 },
      tls: isTls ? { ...byKey, pskCallback: () => psk } : undefined,
    });
    const port = await transport.listen({ host: "127.0.0.1", port: 0 });
    const [server] = transport.servers;
    assert.ok(server !== undefined);
    /** Below TLS, if there is TLS. */
    const sockets = new Map<Socket, Socket>();
    for (let index = 0; index < many; index++) {
      const at = { port, host: "127.0.0.1", allowHalfOpen: true };
      const socket = connectTcp(at);
      const client = isTls
        ? connectTls({
            socket,
            ...byKey,
            checkServerIdentity: () => undefined,
            pskCallback: () => ({ psk, identity: "" }),
          })
        : socket;
      for (const each of [client, socket]) each.on("error", () => {});
      client.resume();
      sockets.set(client, socket);
      await once(client, isTls ? "secureConnect" : "connect");
    }
    const clients = [...sockets.keys()];
    return { transport, told, clients, sockets, server };
  }

  const ways: readonly (readonly [how: string, cut: (client: Socket, socket: Socket | undefined) => void])[] = [
    ["end their half", (client) => client.end()],
    ["are gone", (client) => client.destroy()],
    ["are reset", (_client, socket) => socket?.resetAndDestroy()],
  ];
  for (const [how, cut] of ways) {
    it(`a server releases all clients over ${over} that ${how} at once, and then closes`, async () => {
      const { transport, told, clients, sockets, server } = await setUp();
      for (const client of clients) client.write(Buffer.concat([opening, messageOn(1, Buffer.from("hello"))]));
      await waitFor("the calls", () => told.bytes === many * 5);
      for (const client of clients) cut(client, sockets.get(client));
      await waitFor("the calls to be over", () => told.closed === many);
      for (const client of clients) client.destroy();
      await waitForConnections(server, 0);
      await within("the transport", transport.close(300_000));
    });
  }

  it(`a server reads everything that clients over ${over} sent before they ended, even if many wait for their turn`, async () => {
    const { transport, told, clients, server } = await setUp();
    const long = messageOn(1, Buffer.alloc(16_000));
    const last = messageOn(1, Buffer.alloc(1), flag.endStream);
    const gone = clients.map((client) => once(client, "close"));
    for (const client of clients) client.end(Buffer.concat([opening, long, long, long, last]));
    await within("the clients", Promise.all(gone));
    assert.deepEqual(told, { opened: many, bytes: many * 48_001, finished: many, closed: many });
    await waitForConnections(server, 0);
    await within("the transport", transport.close(300_000));
  });
}

async function waitForConnections(server: Server, count: number): Promise<void> {
  let now = -1;
  await waitFor(`${count} connections`, () => {
    server.getConnections((_error, connections) => {
      now = connections;
    });
    return now === count;
  });
}
