import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { Agent, request } from "node:https";
import { type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { create, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { statusCode } from "@xdskit/protocol";
import { type Certificate, createAuthority } from "../../../api/src/testing/certificates.js";
import { createServer } from "../create-server.js";
import { temporaryFolder } from "../testing/basics/temporary-folder.js";
import { waitFor } from "../testing/basics/wait-for.js";

const authority = createAuthority("an authority");
const secondsOf = (seconds: number) => authority.issueFor("edge", [-1, seconds / 86_400]);

async function listening(t: TestContext) {
  const folder = await temporaryFolder(t);
  const file = async (name: string, content: string) => {
    await folder.write(name, content);
    return folder.at(name);
  };
  const own = authority.issue("server", "IP:127.0.0.1");
  const tls = {
    certificateFile: await file("own.pem", own.certificate),
    keyFile: await file("own.key", own.key),
    clientCaFile: await file("ca.pem", authority.certificate),
    crlFile: await file("revoked.pem", authority.revoke([])),
  };
  const server = createServer({ tls, identities: [{ when: { dns: "edge" }, node: {} }] });
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const { grpc, rest } = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
  const revoke = (one: Certificate) => folder.replace("revoked.pem", authority.revoke([one]));
  const open = () => server.stats().streams.reduce((sum, { open }) => sum + open, 0);
  return { server, grpc, rest, revoke, open, close: () => server.close({ timeoutMs: 500 }) };
}

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };

/** Connections of one client, with streams whose nodes have all that they asked for. */
async function streamsOf(grpc: string, { certificate: cert, key }: Certificate, connections: number, each: number) {
  const sessions: ClientHttp2Session[] = [];
  /** How each stream ended: its status, or none where its connection was cut. */
  const ended: (string | undefined)[] = [];
  let answers = 0;
  const open = (session: ClientHttp2Session, id: string) => {
    const stream = session.request(headers, { endStream: false });
    let status: string | undefined;
    stream.on("error", () => {}).on("trailers", (trailers) => (status = String(trailers["grpc-status"])));
    stream.on("data", () => (answers += 1)).on("close", () => ended.push(status));
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const body = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl }));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(body.length, 1);
    stream.write(Buffer.concat([head, body]));
  };
  for (let at = 0; at < connections; at += 1) {
    const session = connect(`https://${grpc}`, { ca: authority.certificate, cert, key });
    session.on("error", () => {});
    sessions.push(session);
    for (let stream = 0; stream < each; stream += 1) open(session, `edge-${at}-${stream}`);
    await waitFor("they are served", () => answers === (at + 1) * each);
  }
  const close = () => {
    for (const session of sessions) session.destroy();
  };
  return { ended, answers: () => answers, close };
}

test("5,000 gRPC streams whose client's certificate ends do so spread over the next minute, and no other does", async (t) => {
  const now = Date.now();
  // The server's clock, and no other timer.
  t.mock.timers.enable({ apis: ["Date", "setInterval"], now });
  const server = await listening(t);
  const short = authority.issueFor("edge", [-1, 1 / 24]);
  const endsAt = Date.parse(new X509Certificate(short.certificate).validTo);
  const ending = await streamsOf(server.grpc, short, 50, 100);
  const stays = await streamsOf(server.grpc, authority.issue("edge"), 1, 1);
  try {
    t.mock.timers.tick(endsAt - now - 1);
    assert.deepEqual([server.open(), ending.ended], [5_001, []]);
    const seconds: number[] = [];
    for (let second = 0; second <= 60; second += 1) {
      const before = server.open();
      t.mock.timers.tick(1_000);
      seconds.push(before - server.open());
    }
    await waitFor("the clients to know", () => ending.ended.length === 5_000);
    assert.deepEqual([...new Set(ending.ended)], [String(statusCode.permissionDenied)]);
    // 83 on average, and 9 is the standard deviation.
    assert.ok(Math.max(...seconds) < 83 + 8 * 9, seconds.join());
    server.server.config.set([create(ClusterSchema, { name: "b" })]);
    await waitFor("the other to be served", () => stays.answers() === 2);
    assert.deepEqual(stays.ended, []);
  } finally {
    for (const each of [ending, stays]) each.close();
    t.mock.timers.reset();
    await server.close();
  }
});

test("all gRPC streams of a certificate that a list revokes end, and those of another are served", async (t) => {
  const server = await listening(t);
  const [one, other] = [authority.issue("edge"), authority.issue("edge")];
  const revoked = await streamsOf(server.grpc, one, 20, 50);
  const stays = await streamsOf(server.grpc, other, 1, 50);
  try {
    await server.revoke(one);
    await waitFor("they end", () => revoked.ended.length === 1_000);
    await waitFor("the server to know", () => server.open() === 50);
    const { certificate: cert, key } = one;
    const again = connect(`https://${server.grpc}`, { ca: authority.certificate, cert, key }).on("error", () => {});
    await once(again, "close");
    server.server.config.set([create(ClusterSchema, { name: "b" })]);
    await waitFor("the others to be served", () => stays.answers() === 100);
    assert.deepEqual(stays.ended, []);
  } finally {
    for (const each of [revoked, stays]) each.close();
    await server.close();
  }
});

test("a connection takes no new stream once the certificate that its client showed has ended, and keeps those it has", async (t) => {
  const server = await listening(t);
  const { certificate: cert, key } = secondsOf(4);
  const client = connect(`https://${server.grpc}`, { ca: authority.certificate, cert, key });
  client.on("error", () => {});
  try {
    const stream = client.request(headers, { endStream: false });
    stream.on("error", () => {});
    await once(client, "remoteSettings");
    const began = Date.now();
    const [code] = (await once(client, "goaway")) as [number];
    assert.equal(code, 0);
    assert.ok(Date.now() - began < 20_000);
    assert.ok(!stream.closed && !stream.destroyed);
  } finally {
    client.destroy();
    await server.close();
  }
});

test("an answer to a poll closes the connection shortly before the client's certificate ends", async (t) => {
  const server = await listening(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  const poll = ({ certificate: cert, key }: Certificate) =>
    new Promise<string>((resolve, reject) => {
      const [host, port] = server.rest.split(":");
      const tls = { ca: authority.certificate, cert, key };
      const path = "/v3/discovery:clusters";
      const headers = { "content-type": "application/json" };
      const asked = request({ host, port, path, method: "POST", headers, agent, ...tls }, (response) => {
        sockets.add(response.socket as TLSSocket);
        response.resume().on("end", () => resolve(`${response.statusCode} ${response.headers.connection}`));
      });
      asked.on("error", reject).end(JSON.stringify({ node: { id: "edge" }, resource_names: ["a"] }));
    });
  try {
    const long = secondsOf(600);
    for (const certificate of [long, long]) assert.match(await poll(certificate), /^\d+ keep-alive$/);
    assert.equal(sockets.size, 1);
    let answer: string | undefined;
    for (let tries = 0; answer === undefined; tries += 1) {
      // A busy machine may need longer to connect than the certificate lasts.
      answer = await poll(secondsOf(2)).catch((error) => {
        if (tries === 4) throw error;
        return undefined;
      });
    }
    assert.match(answer, /^\d+ close$/);
  } finally {
    agent.destroy();
    await server.close();
  }
});
