import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { createServer, TLSSocket, connect as tlsConnect } from "node:tls";
import { belowTls } from "./below-tls.js";

const psk = Buffer.alloc(16, 7);
const byKey = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;

describe("the socket below TLS", () => {
  it("the socket below TLS is the one that this Node's server accepted", async () => {
    const server = createServer({ ...byKey, pskCallback: () => psk });
    const below = once(server, "connection") as Promise<[Socket]>;
    const above = once(server, "secureConnection") as Promise<[TLSSocket]>;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { readonly port: number };
    const client = tlsConnect({
      ...byKey,
      port,
      host: "127.0.0.1",
      pskCallback: () => ({ psk, identity: "client" }),
      checkServerIdentity: () => undefined,
    });
    client.on("error", () => {});
    try {
      const [[accepted], [secured]] = await Promise.all([below, above]);
      assert.equal(belowTls(secured), accepted);
    } finally {
      client.destroy();
      server.close();
    }
  });

  it("the socket below TLS is unknown if Node does not tell", () => {
    const socket = new TLSSocket(connect({ port: 1, host: "127.0.0.1" }).on("error", () => {}));
    Object.defineProperty(socket, "_parent", { value: undefined });
    assert.equal(belowTls(socket), undefined);
    socket.on("error", () => {}).destroy();
  });
});
