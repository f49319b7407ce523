import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { createGrpcServer } from "./grpc-server.js";
import { waitFor } from "./testing/wait-for.js";

/** The first bytes of an HTTP/2 client: the preface, and empty SETTINGS. */
const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** The beginning of a client's first record. */
const beginning = Buffer.from([22, 3, 1, 0, 100, 1]);
const reset = (client: Socket) => void client.resetAndDestroy();
const tooLong = ["it took too long for the TLS handshake"];

const strangers: readonly (readonly [
  how: string,
  handshakeTimeout: number,
  reasons: readonly string[],
  does: (client: Socket) => void,
])[] = [
  ["says nothing", 100, tooLong, () => {}],
  ["does not go on", 100, tooLong, (client) => void client.write(beginning)],
  ["looks whether the port is open", 60_000, [], (client) => void client.end()],
  ["goes in its midst", 60_000, [], (client) => void client.end(beginning)],
  ["is reset in its midst", 60_000, [], (client) => client.write(beginning, () => reset(client))],
];
for (const [how, handshakeTimeout, reasons, does] of strangers) {
  test(`nothing is kept of a client that ${how} instead of a TLS handshake`, async () => {
    const failed: string[] = [];
    const grpc = createGrpcServer({
      methods: new Map(),
      tls: { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => null, handshakeTimeout },
      handshakeFailed: (_peer, reason) => failed.push(reason),
    });
    const port = await grpc.listen({ host: "127.0.0.1", port: 0 });
    const [server] = grpc.servers;
    assert.ok(server !== undefined);
    let accepted = 0;
    server.on("connection", () => {
      accepted += 1;
    });
    const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    client.on("error", () => {});
    client.resume();
    try {
      client.once("connect", () => does(client));
      await waitFor("the connection", () => accepted === 1);
      let open = 1;
      await waitFor("the connection to be gone", () => {
        server.getConnections((_error, connections) => {
          open = connections;
        });
        return open === 0;
      });
      assert.deepEqual(failed, reasons);
    } finally {
      client.destroy();
      await grpc.close(0);
    }
  });
}

test("a connection ends at once if its bytes cannot be decrypted", async () => {
  const psk = Buffer.alloc(16, 7);
  const grpc = createGrpcServer({
    methods: new Map(),
    tls: { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => psk },
  });
  const port = await grpc.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect({ port, host: "127.0.0.1" });
  const client = connectTls({
    socket,
    ciphers: "PSK",
    maxVersion: "TLSv1.2",
    ALPNProtocols: ["h2"],
    pskCallback: () => ({ psk, identity: "client" }),
    checkServerIdentity: () => undefined,
  });
  for (const each of [socket, client]) each.on("error", () => {});
  try {
    await once(client, "secureConnect");
    client.resume();
    // The preface, so that the server no longer waits for it; then application data that was not encrypted.
    await new Promise((written) => client.write(preface, written));
    socket.write(Buffer.from([23, 3, 3, 0, 5, 1, 2, 3, 4, 5]));
    await waitFor("the end", () => socket.readableEnded || socket.destroyed);
  } finally {
    socket.destroy();
    await grpc.close(0);
  }
});
