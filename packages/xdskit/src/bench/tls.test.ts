import assert from "node:assert/strict";
import { it } from "node:test";
import { ServerCredentials } from "@grpc/grpc-js";
import { createAuthority } from "../../../client/src/testing/certificates.js";
import { testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { deltaResponse, packedCluster } from "../testing/odd-responses.js";
import { oddServer } from "../testing/odd-server.js";
import type { BenchReport } from "./report.js";

it("a fleet comes over TLS, with its own certificate and a token, and shows none of them", async () => {
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
  const asked = ["bench", "--ads", "--type", "cluster", "--server", server.address, "--nodes", "3", "--json"];
  const trusting = ["--tls-ca", at("ca.pem"), "--tls-server-name", "xds.test", "--token-file", at("token")];
  const certificate = ["--tls-cert", at("client.pem"), "--tls-key", at("client.key")];
  const known = await inProcessEnds(...asked, ...trusting, ...certificate, "--duration", "100ms");
  assert.equal(known.status, 0, known.out + known.err);
  assert.equal((JSON.parse(known.out) as BenchReport).state.complete, 3);
  assert.deepEqual(
    server.streams.map(({ authorization }) => authorization),
    ["Bearer S3CR3T", "Bearer S3CR3T", "Bearer S3CR3T"],
  );
  assert.ok(!(known.out + known.err).includes("S3CR3T"));
  const wrong = [
    [trusting, /certificate/],
    [[], /./],
    [["--tls"], /not signed by anyone who is trusted/],
  ] as const;
  for (const [others, message] of wrong) {
    const { status, out } = await inProcessEnds(...asked, ...others, "--timeout", "500ms");
    assert.equal(status, 1, out);
    const { state, errors } = JSON.parse(out) as BenchReport;
    assert.equal(state.complete, 0);
    assert.match(errors.map((error) => error.message).join("\n"), message, JSON.stringify(errors));
  }
  assert.equal(server.streams.length, 3);
  const gone = await inProcessEnds(...asked, "--tls-ca", at("gone.pem"));
  assert.equal(gone.status, 2);
  assert.match(gone.err, /gone\.pem: cannot be read/);
});
