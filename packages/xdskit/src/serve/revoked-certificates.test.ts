import assert from "node:assert/strict";
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { Agent, request } from "node:https";
import { test } from "node:test";
import { type Certificate, createAuthority } from "../../../api/src/testing/certificates.js";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { servesHere } from "../testing/in-process.js";
import { clustersByGrpc, statusByRest } from "../testing/tls-client.js";

const authority = createAuthority("an authority");
const ca = authority.certificate;
const clients = { a: authority.issue("a"), b: authority.issue("b") };

const tls = "{ cert: own.pem, key: own.key, client_ca: ca.pem, crl: revoked.pem }";
const settings = `tls: ${tls}
admin_tls: ${tls}
rest: { hold: 2m }
identities:
  - { when: { dns: "{who}" }, node: {} }
roles:
  - { when: { dns: "*" }, may: [read] }
`;

async function serving() {
  const own = authority.issue("localhost");
  const beside = await testFolder({
    "own.pem": own.certificate,
    "own.key": own.key,
    "ca.pem": ca,
    "revoked.pem": authority.revoke([]),
    "xdskit.yaml": settings,
  });
  const folder = await testFolder({ "a.yaml": clusterYaml("web") });
  const free = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--state", "off"];
  const server = servesHere("serve", folder.path, "--settings", `${beside.path}/xdskit.yaml`, ...free);
  const port = async (name: string) =>
    Number((await server.seen(new RegExp(`^${name} listening on .*:(\\d+)$`, "m")))[1]);
  const ports = { grpc: await port("grpc"), rest: await port("rest"), admin: await port("admin") };
  await server.seen(/^ready$/m);
  return {
    server,
    ports,
    beside,
    async [Symbol.asyncDispose]() {
      for (const each of [server, folder, beside]) await each[Symbol.asyncDispose]();
    },
  };
}

type Open = { readonly name: string; isOpen(): boolean; close(): void };

/** A gRPC stream. */
async function stream(port: number, name: string, { certificate: cert, key }: Certificate): Promise<Open> {
  const client = connect(`https://localhost:${port}`, { ca, cert, key });
  client.on("error", () => {});
  const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  const asked = client.request(headers, { endStream: false }).on("error", () => {});
  await once(client, "remoteSettings");
  return { name: `grpc ${name}`, isOpen: () => !asked.closed && !client.closed, close: () => client.destroy() };
}

/** A poll that waits for a change, or a reader of events. */
async function waiting(port: number, name: string, path: string, own: Certificate, body?: string): Promise<Open> {
  const pair = { ca, cert: own.certificate, key: own.key };
  const method = body === undefined ? "GET" : "POST";
  const headers = { "content-type": "application/json" };
  const asked: ClientRequest = request({ host: "localhost", port, path, method, headers, agent: new Agent(), ...pair });
  let isOpen = true;
  const ended = () => {
    isOpen = false;
  };
  asked.on("error", ended).on("response", (response: IncomingMessage) => response.resume().on("close", ended));
  asked.end(body);
  if (body === undefined) await once(asked, "response");
  return { name: `${path} ${name}`, isOpen: () => isOpen, close: () => void asked.destroy() };
}

async function pollVersion(port: number, { certificate: cert, key }: Certificate): Promise<string> {
  const node = { id: "n" };
  const asked = request({ host: "localhost", port, path: "/v3/discovery:clusters", method: "POST", ca, cert, key });
  asked.end(JSON.stringify({ node }));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return (JSON.parse(text) as { readonly versionInfo: string }).versionInfo;
}

test("a certificate that a list revokes ends streams, polls and readers of events, and opens no more", async () => {
  await using serve = await serving();
  const { server, ports, beside } = serve;
  const open: Open[] = [];
  for (const [name, own] of Object.entries(clients)) {
    const version_info = await pollVersion(ports.rest, own);
    const body = JSON.stringify({ node: { id: "n" }, version_info });
    open.push(await stream(ports.grpc, name, own));
    open.push(await waiting(ports.rest, name, "/v3/discovery:clusters", own, body));
    open.push(await waiting(ports.admin, name, "/api/v1/events", own));
  }
  const left = () => open.filter((one) => one.isOpen()).map(({ name }) => name);
  try {
    assert.equal(left().length, 6, left().join());
    await beside.write("revoked.pem", "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n");
    await server.seen(/revoked\.pem.*cannot be read/, "err");
    assert.equal(left().length, 6, left().join());
    await beside.write("revoked.pem", authority.revoke([clients.b]));
    await waitFor("the connections of b to end", () => left().every((name) => name.endsWith(" a")));
    assert.equal(left().length, 3);
    for (const [name, own] of Object.entries(clients)) {
      const client = { ca, own };
      const answers = [
        await clustersByGrpc(ports.grpc, client),
        await statusByRest(ports.rest, client),
        await statusByRest(ports.admin, client),
      ];
      if (name === "a") assert.deepEqual(answers, [["web"], 200, 404]);
      else
        assert.ok(
          answers.every((answer) => typeof answer === "string"),
          JSON.stringify(answers),
        );
    }
    await server.seen(/connection refused.*its certificate was revoked/, "err");
    // It must still end in time with a list that has expired.
    await beside.write("revoked.pem", authority.revoke([clients.b], [-3, -1]));
    await server.seen(/list of revoked certificates \(CRL\) has expired/, "err");
    assert.equal(typeof (await statusByRest(ports.rest, { ca, own: clients.b })), "string");
    assert.equal(await statusByRest(ports.rest, { ca, own: clients.a }), 200);
    assert.equal(left().length, 3);
  } finally {
    for (const each of open) each.close();
  }
});
