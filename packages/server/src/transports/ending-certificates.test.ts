import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { Agent, request } from "node:https";
import { type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { createServer } from "../create-server.js";
import { temporaryFolder } from "../testing/basics/temporary-folder.js";

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
  };
  const server = createServer({ tls, identities: [{ when: { dns: "edge" }, node: {} }] });
  server.config.set([create(ClusterSchema, { name: "a" })]);
  const { grpc, rest } = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
  return { grpc, rest, close: () => server.close({ timeoutMs: 500 }) };
}

test("a connection takes no new stream once the certificate that its client showed has ended, and keeps those it has", async (t) => {
  const server = await listening(t);
  const { certificate: cert, key } = secondsOf(4);
  const client = connect(`https://${server.grpc}`, { ca: authority.certificate, cert, key });
  client.on("error", () => {});
  try {
    const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
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
  const poll = ({ certificate: cert, key }: ReturnType<typeof secondsOf>) =>
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
