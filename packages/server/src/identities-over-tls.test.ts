import assert from "node:assert/strict";
import { request as httpsRequest } from "node:https";
import { type TestContext, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { type Authority, type Certificate, createAuthority } from "../../api/src/testing/certificates.js";
import type { ServerEvent } from "./contracts/events.js";
import { createServer } from "./create-server.js";
import { temporaryFolder } from "./testing/basics/temporary-folder.js";
import { tenants } from "./testing/identity/tenants.js";
import { clusterResource } from "./testing/test-resources.js";

const method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

interface Asking {
  readonly id: string;
  readonly pair?: Certificate;
  readonly token?: string;
}

for (const kind of ["ecdsa", "rsa-pss"] as const)
  test(`over TLS a certificate (${kind}) or a token says who may be which node, over gRPC and REST`, async (t) =>
    judged(t, createAuthority("mesh", kind), createAuthority("strangers", kind)));

async function judged(t: TestContext, authority: Authority, strangers: Authority): Promise<void> {
  const folder = await temporaryFolder(t);
  const own = authority.issue("localhost");
  const { a, jwks } = await tenants();
  await folder.write("server.pem", own.certificate);
  await folder.write("server.key", own.key);
  await folder.write("ca.pem", authority.certificate);
  await folder.write("keys.json", JSON.stringify(jwks));
  const server = createServer({
    eventLoop: false,
    rest: { holdMs: 0 },
    tls: {
      certificateFile: folder.at("server.pem"),
      keyFile: folder.at("server.key"),
      clientCaFile: folder.at("ca.pem"),
      clientCertificates: "optional",
    },
    identities: [
      { when: { spiffe: "spiffe://mesh.example/ns/{ns}/sa/{sa}" }, node: { id: "{sa}.{ns}.*" } },
      {
        when: {
          jwt: {
            issuer: "https://issuer",
            audience: "xdskit",
            jwks: folder.at("keys.json"),
            claims: { sub: "{t}:{w}" },
          },
        },
        node: { id: "{w}.{t}.*" },
      },
    ],
  });
  t.after(() => server.close({ timeoutMs: 500 }));
  const refused: ServerEvent[] = [];
  server.on((event) => event.kind === "caller-refused" && refused.push(event));
  server.config.set([clusterResource("one")]);
  const { grpc, rest } = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
  const ca = Buffer.from(authority.certificate);

  async function overGrpc({ id, pair, token }: Asking): Promise<number> {
    const secure = credentials.createSsl(ca, pair && Buffer.from(pair.key), pair && Buffer.from(pair.certificate));
    const client = new Client(grpc, secure, {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.ssl_target_name_override": "localhost",
    });
    const metadata = new Metadata();
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    const asIs = (bytes: Buffer) => bytes;
    const call = client.makeBidiStreamRequest(method, asIs, asIs, metadata);
    call.write(
      Buffer.from(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl }))),
    );
    const code = await new Promise<number>((resolve) => {
      call.once("data", () => resolve(0));
      call.on("error", (error) => resolve((error as Error & { code: number }).code));
    });
    call.cancel();
    client.close();
    return code;
  }

  async function overRest({ id, pair, token }: Asking): Promise<number> {
    const [, port = ""] = rest.split(":");
    const tls = { ca, servername: "localhost", key: pair?.key, cert: pair?.certificate, agent: false };
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const at = { host: "127.0.0.1", port, path: "/v3/discovery:clusters", method: "POST", headers };
    return await new Promise<number>((resolve, reject) => {
      const sent = httpsRequest({ ...at, ...tls }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on("error", reject);
      sent.end(JSON.stringify({ node: { id } }));
    });
  }

  const cart = authority.issue("x", "URI:spiffe://mesh.example/ns/shop/sa/cart");
  const stranger = strangers.issue("x", "URI:spiffe://mesh.example/ns/shop/sa/cart");
  const pay = authority.issue("x", "URI:spiffe://mesh.example/ns/bank/sa/pay");
  for (const [what, asking, isServed] of [
    ["its own certificate", { id: "cart.shop.1", pair: cart }, true],
    ["another's certificate", { id: "cart.shop.1", pair: pay }, false],
    ["a certificate of another authority", { id: "cart.shop.1", pair: stranger }, false],
    ["no certificate", { id: "cart.shop.1" }, false],
    ["its own token", { id: a.id, token: a.good }, true],
    ["a token for another node", { id: "cart.shop.1", token: a.good }, false],
    ["a token that has ended", { id: a.id, token: a.expired }, false],
    ["a token that nobody signed", { id: a.id, token: a.wrong }, false],
  ] satisfies [string, Asking, boolean][]) {
    assert.equal(await overGrpc(asking), isServed ? 0 : 7, `gRPC, ${what}`);
    assert.equal(await overRest(asking), isServed ? 200 : 403, `REST, ${what}`);
  }
  assert.deepEqual(
    server
      .stats()
      .callersRefused.map(({ rule }) => rule)
      .sort(),
    [0, 1, undefined],
  );
  const log = JSON.stringify(refused);
  assert.match(log, /spiffe:\/\/mesh\.example\/ns\/bank\/sa\/pay/);
  for (const token of [a.good, a.expired, a.wrong]) assert.ok(!log.includes(token), "a token is in an event");
}
