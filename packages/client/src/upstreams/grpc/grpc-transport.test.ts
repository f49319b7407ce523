import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Server, ServerCredentials, type ServerDuplexStream, type UntypedHandleCall } from "@grpc/grpc-js";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createAuthority } from "../../../../api/src/testing/certificates.js";
import { createClient } from "../../create-client.js";
import type { ClientEvent } from "../../events/client-event.js";
import { createOddServer } from "../../testing/odd/odd-server.js";
import { waitFor } from "../../testing/wait-for.js";

const folder = mkdtempSync(join(tmpdir(), "xdskit-transport-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const asIs = (bytes: Buffer) => bytes;
const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const typeUrl = `type.googleapis.com/${ClusterSchema.typeName}`;

it("a stream sends the certificates and tokens that its files hold when it begins", async () => {
  const authority = createAuthority("an authority");
  const own = authority.issue("the server", "IP:127.0.0.1");
  const [first, second] = [authority.issue("first"), authority.issue("second")];
  const server = new Server();
  const calls: ServerDuplexStream<Buffer, Buffer>[] = [];
  /** Answers with a cluster that names the caller. */
  const handle: UntypedHandleCall = ((call: ServerDuplexStream<Buffer, Buffer>) => {
    calls.push(call);
    call.on("error", () => {});
    call.once("data", () => {
      const who = call.getAuthContext().sslPeerCertificate?.subject.CN;
      const altStatName = `${who} ${call.metadata.get("authorization")} ${call.metadata.get("x-team")}`;
      const resources = [anyPack(ClusterSchema, create(ClusterSchema, { name: "a", altStatName }))];
      const response = { versionInfo: altStatName, nonce: "1", typeUrl, resources };
      call.write(Buffer.from(toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response))));
    });
    call.on("end", () => call.end());
  }) as UntypedHandleCall;
  const method = { path, requestStream: true, responseStream: true } as const;
  const bytes = {
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  server.addService({ Stream: { ...method, ...bytes } }, { Stream: handle });
  const pair = { private_key: Buffer.from(own.key), cert_chain: Buffer.from(own.certificate) };
  const credentials = ServerCredentials.createSsl(Buffer.from(authority.certificate), [pair], true);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  const client = createClient({
    servers: [
      {
        kind: "grpc",
        address: `127.0.0.1:${port}`,
        variant: "sotw",
        tls: {
          caFile: write("ca.pem", authority.certificate),
          certificateFile: write("own.pem", first.certificate),
          keyFile: write("own.key", first.key),
        },
        headers: { "x-team": "one" },
        tokenFile: write("token", "t1"),
      },
    ],
    node: { id: "me" },
    backoff: { firstMs: 20, maxMs: 50 },
  });
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  try {
    let last = "";
    client.watch(ClusterSchema, "a", {
      onChanged({ message }) {
        last = message.altStatName;
      },
    });
    await waitFor("the first", () => last === "first Bearer t1 one");
    write("token", "t2");
    calls.at(-1)?.end();
    await waitFor("the new token", () => last === "first Bearer t2 one");
    write("own.pem", second.certificate);
    write("own.key", second.key);
    // Certificates are shown once a connection.
    calls.at(-1)?.emit("error", { code: 14, details: "I go" });
    server.drain(`127.0.0.1:${port}`, 0);
    await waitFor("the new certificate", () => last === "second Bearer t2 one");
    const said = events
      .map((event) =>
        "error" in event && event.error instanceof Error
          ? event.error.message
          : JSON.stringify({ ...event, type: 0, update: 0 }),
      )
      .join();
    assert.ok(!said.includes("t2") && !said.includes("PRIVATE"), said);
  } finally {
    await client.close();
    server.forceShutdown();
  }
});

it("an error is the same each time that it happens, even if gRPC writes the time into it", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = createClient({
    servers: [`127.0.0.1:${port}`],
    node: { id: "me" },
    backoff: { firstMs: 20, maxMs: 50 },
  });
  const said: string[] = [];
  client.on((event) => void (event.kind === "failed" && said.push(event.error.message)));
  try {
    client.watch(ClusterSchema, "a", { onChanged() {} });
    await waitFor("two attempts", () => said.length >= 2);
    for (const each of said) {
      assert.doesNotMatch(each, /\d{4}-\d\d-\d\dT/);
      assert.match(each, /it does not speak HTTP\/2: is this the address for gRPC\?/);
    }
  } finally {
    await client.close();
    server.close();
  }
});

it("the error for a server that closes the connection at once says that it may want TLS", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    // Like a TLS port that reads something else.
    socket.once("data", () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = createClient({ servers: [`127.0.0.1:${port}`], node: { id: "me" } });
  try {
    const said = await new Promise<string>((resolve) => {
      client.on((event) => void (event.kind === "failed" && resolve(event.error.message)));
      client.watch(ClusterSchema, "a", { onChanged() {} });
    });
    assert.match(said, /does it want TLS \(--tls-ca\)\?/);
  } finally {
    await client.close();
    server.close();
  }
});

it("no call is made for a stream that is given up in the turn in which its connection opens", async () => {
  const server = await createOddServer();
  const client = createClient({
    servers: [{ kind: "grpc", address: server.address, aggregated: false }],
    node: { id: "me" },
  });
  try {
    client.watch("cluster", "a", { onChanged() {} });
    const given = client.watch("endpoint", "a", { onChanged() {} });
    client.on((event) => {
      // Both waited for one connection: the other stream's turn comes next.
      if (event.kind === "connected" && event.type?.name === "cluster") given.cancel();
    });
    await server.nextStream();
    client.watch("listener", "a", { onChanged() {} });
    await waitFor("the last", () => server.streams.some(({ path }) => path.endsWith("/DeltaListeners")));
    assert.deepEqual(
      server.streams.map(({ path }) => path.split("/").at(-1)),
      ["DeltaClusters", "DeltaListeners"],
    );
    await client.close();
    assert.equal(server.open, 0);
  } finally {
    await client.close();
    await server.close();
  }
});
