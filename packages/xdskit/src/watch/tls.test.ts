import assert from "node:assert/strict";
import { it } from "node:test";
import { ServerCredentials } from "@grpc/grpc-js";
import { createAuthority } from "../../../client/src/testing/certificates.js";
import { testFolder } from "../testing/folder.js";
import { inProcess } from "../testing/in-process.js";
import { deltaResponse, packedCluster } from "../testing/odd-responses.js";
import { oddServer } from "../testing/odd-server.js";

it("asks over TLS, with its own certificate and a token, and shows none of them", async () => {
  const authority = createAuthority("an authority");
  const own = authority.issue("xds.test");
  const client = authority.issue("client.test");
  const files = { "ca.pem": authority.certificate, "client.pem": client.certificate, "client.key": client.key };
  await using folder = await testFolder({ ...files, token: "S3CR3T\n" });
  const at = (name: string) => `${folder.path}/${name}`;
  const pair = { cert_chain: Buffer.from(own.certificate), private_key: Buffer.from(own.key) };
  const credentials = ServerCredentials.createSsl(Buffer.from(authority.certificate), [pair], true);
  await using server = await oddServer((stream, index) => {
    if (index === 0) stream.send(deltaResponse("1", [{ name: "a", resource: packedCluster("a") }]));
  }, credentials);
  const asked = ["get", "--type", "cluster", "a", "--server", server.address, "--output", "jsonl"];
  const trusting = ["--tls-ca", at("ca.pem"), "--tls-server-name", "xds.test", "--token-file", at("token")];
  const known = inProcess([...asked, ...trusting, "--tls-cert", at("client.pem"), "--tls-key", at("client.key")]);
  assert.equal(await known.status, 0, known.out() + known.err());
  assert.equal(server.streams[0]?.authorization, "Bearer S3CR3T");
  assert.ok(!known.out().includes("S3CR3T"), known.out());
  for (const others of [trusting, [], ["--tls"]]) {
    const refused = inProcess([...asked, ...others, "--timeout", "1s"]);
    assert.equal(await refused.status, 1, `${others}`);
  }
  assert.equal(server.streams.length, 1);
});
