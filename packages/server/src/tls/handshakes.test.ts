import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { defaultKeepalive } from "../keepalive.js";
import { waitFor } from "../testing/wait-for.js";
import { createGrpcTransport } from "../transports/http2/http2-transport.js";

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
    const transport = createGrpcTransport({
      types: resourceTypes,
      keepalive: defaultKeepalive,
      requestBytes: 1_000,
      tls: { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => null, handshakeTimeout },
      handshakeFailed: (_peer, reason) => failed.push(reason),
    });
    const address = await transport.listen("127.0.0.1:0", () => ({ code: 14, message: "" }), []);
    const [server] = transport.servers;
    assert.ok(server !== undefined);
    let accepted = 0;
    server.on("connection", () => {
      accepted += 1;
    });
    const client = connect({ port: Number(address.split(":").at(-1)), host: "127.0.0.1", allowHalfOpen: true });
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
      await transport.close(0);
    }
  });
}
