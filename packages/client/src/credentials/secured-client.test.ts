import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer } from "@xdskit/server";
import { contentLines, createAuthority } from "../../../api/src/testing/certificates.js";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ServerSettings } from "../options/client-options.js";
import type { TlsSettings } from "../options/tls-settings.js";
import { waitFor } from "../testing/wait-for.js";

const authority = createAuthority("an authority");
const own = authority.issue("the server", "DNS:xds.example");
const [first, second] = [authority.issue("first"), authority.issue("second")];

const folder = mkdtempSync(join(tmpdir(), "xdskit-secured-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** Ends TLS in front of a server, with certificates on both sides. */
async function withFront(test: (front: Front) => Promise<void>): Promise<void> {
  const server = createServer();
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const plain = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
  const peers: string[] = [];
  const sockets = new Set<Socket>();
  const tlsOf = async (address: string, ALPNProtocols: string[]) => {
    const options = {
      ca: authority.certificate,
      cert: own.certificate,
      key: own.key,
      requestCert: true,
      ALPNProtocols,
    };
    const front = createTlsServer(options, (socket) => {
      peers.push(String(socket.getPeerCertificate().subject.CN));
      const inner = connect(Number(address.split(":")[1]), "127.0.0.1");
      for (const one of [socket, inner]) {
        sockets.add(one);
        one
          .on("error", () => {})
          .on("close", () => {
            for (const each of [socket, inner]) each.destroy();
          });
      }
      socket.pipe(inner).pipe(socket);
    });
    front.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    return { port: (front.address() as AddressInfo).port, close: () => front.close() };
  };
  const grpc = await tlsOf(plain.grpc, ["h2"]);
  const rest = await tlsOf(plain.rest, ["http/1.1"]);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  try {
    await test({ grpc: `127.0.0.1:${grpc.port}`, rest: `https://127.0.0.1:${rest.port}`, peers, cut });
  } finally {
    cut();
    for (const front of [grpc, rest]) front.close();
    await server.close({ timeoutMs: 500 });
  }
}

interface Front {
  readonly grpc: string;
  readonly rest: string;
  /** The clients that connected, by the names in their certificates. */
  readonly peers: readonly string[];
  /** Ends all connections. */
  cut(): void;
}

const files = (): TlsSettings => ({
  caFile: write("ca.pem", authority.certificate),
  certificateFile: write("own.pem", first.certificate),
  keyFile: write("own.key", first.key),
  serverName: "xds.example",
});

for (const kind of ["grpc", "rest"] as const) {
  describe(`a client over TLS, ${kind}`, () => {
    const settingsOf = (front: Front, tls: TlsSettings): ServerSettings =>
      kind === "grpc"
        ? { kind, address: front.grpc, tls }
        : { kind, url: front.rest, tls, refreshDelayMs: 50, requestTimeoutMs: 20_000 };
    const clientOf = (front: Front, tls: TlsSettings) =>
      createClient({
        servers: [settingsOf(front, tls)],
        node: { id: "me" },
        backoff: { firstMs: 50, maxMs: 50 },
      });

    it("a client shows its certificate, and the newer one with the next connection", () =>
      withFront(async (front) => {
        const client = clientOf(front, files());
        try {
          client.watch(ClusterSchema, "a", { onChanged() {} });
          assert.equal((await client.get(ClusterSchema, "a")).name, "a");
          assert.ok(front.peers.every((name) => name === "first"));
          write("own.pem", second.certificate);
          write("own.key", second.key);
          front.cut();
          await waitFor("the newer certificate", () => front.peers.includes("second"));
        } finally {
          await client.close();
        }
      }));

    it("a client says which file is wrong, and goes on once it is fixed", () =>
      withFront(async (front) => {
        const tls = files();
        write("own.key", second.key);
        const client = clientOf(front, tls);
        const failures: string[] = [];
        client.on((event: ClientEvent) => {
          if (event.kind === "failed") failures.push(event.error.message);
        });
        try {
          const got = new Promise<string>((resolve) => {
            client.watch(ClusterSchema, "a", { onChanged: ({ name }) => resolve(name) });
          });
          await waitFor("a failure", () => failures.length > 0);
          assert.match(failures[0] ?? "", /own\.key: the certificate and the key do not fit together/);
          for (const line of contentLines(second.key)) assert.ok(!failures.join().includes(line));
          write("own.key", first.key);
          assert.equal(await got, "a");
        } finally {
          await client.close();
        }
      }));
  });
}
