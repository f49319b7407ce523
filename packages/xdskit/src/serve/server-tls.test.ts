import assert from "node:assert/strict";
import { connect } from "node:http2";
import { it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createGrpcTransport, createServer, defaultKeepalive, type PeerIdentity } from "@xdskit/server";
import { createAuthority } from "../../../api/src/testing/certificates.js";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const request = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id: "n1" }, typeUrl }));

it("serves over TLS, to who has a certificate where that is asked for, and half a megabyte whole", async () => {
  const authority = createAuthority("an authority");
  const [own, known, stranger] = [
    authority.issue("localhost"),
    authority.issue("client.test"),
    createAuthority("another").issue("client.test"),
  ];
  const tls = { cert: own.certificate, key: own.key, ca: authority.certificate, requestCert: true };
  const transport = createGrpcTransport({
    types: resourceTypes,
    keepalive: defaultKeepalive,
    requestBytes: 1 << 20,
    tls: { ...tls, rejectUnauthorized: true },
  });
  const server = createServer();
  const address = await server.listenOn(transport, "127.0.0.1:0");
  const [, port = ""] = address.split(":");
  const text = "x".repeat(500_000);
  /** The identity of each client that was answered, as the server says. */
  const identities: (PeerIdentity | undefined)[] = [];
  server.config.set([create(ClusterSchema, { name: "a", altStatName: text })]);
  const ca = Buffer.from(authority.certificate);

  function ask({ certificate, key }: { readonly certificate: string; readonly key: string }) {
    const secure = credentials.createSsl(ca, Buffer.from(key), Buffer.from(certificate));
    const client = new Client(`localhost:${port}`, secure, { "grpc.use_local_subchannel_pool": 1 });
    const call = client.makeBidiStreamRequest(
      method,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
    );
    call.write(Buffer.from(request));
    return new Promise<Buffer | string>((resolve) => {
      call.once("data", (data: Buffer) => {
        identities.push(server.node("n1")?.streams.at(-1)?.identity);
        resolve(data);
      });
      call.once("error", ({ message }) => resolve(message));
    }).finally(() => {
      call.cancel();
      call.on("error", () => {});
      client.close();
    });
  }

  try {
    const answer = await ask(known);
    assert.ok(typeof answer !== "string" && answer.includes(text), String(answer).slice(0, 200));
    assert.equal(typeof (await ask(stranger)), "string");
    const [{ subject = "", names = [], validTo = 0 } = {}] = identities;
    assert.equal(identities.length, 1);
    assert.match(subject, /CN=client\.test/);
    assert.ok(names.includes("DNS:client.test"), names.join());
    assert.ok(validTo > Date.now());
    // It is HTTP/2 that was agreed on, and nothing else is.
    const session = connect(`https://localhost:${port}`, { ca, cert: known.certificate, key: known.key });
    await new Promise<void>((resolve, reject) => {
      session.once("connect", () => resolve());
      session.once("error", reject);
    });
    assert.equal(session.alpnProtocol, "h2");
    session.destroy();
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});
