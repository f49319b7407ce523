import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import { ServerCredentials } from "@grpc/grpc-js";
import { testFolder } from "../testing/folder.js";
import { inProcess } from "../testing/in-process.js";
import { deltaResponse, packedCluster } from "../testing/odd-responses.js";
import { oddServer } from "../testing/odd-server.js";

/** A certificate that is its own authority, `NAME.pem` and `NAME.key` in a folder. */
function makeCertificate(folder: string, name: string): { readonly certificate: string; readonly key: string } {
  const [certificate, key] = [`${folder}/${name}.pem`, `${folder}/${name}.key`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const whose = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync("openssl", ["req", "-x509", ...kind, ...whose, "-keyout", key, "-out", certificate], { stdio: "pipe" });
  return { certificate, key };
}

it("asks over TLS, with its own certificate and a token, and shows none of them", async () => {
  await using folder = await testFolder({ token: "S3CR3T\n" });
  const [own, client] = ["xds.test", "client.test"].map((name) => makeCertificate(folder.path, name));
  assert.ok(own !== undefined && client !== undefined);
  const pair = { cert_chain: await readFile(own.certificate), private_key: await readFile(own.key) };
  const credentials = ServerCredentials.createSsl(await readFile(client.certificate), [pair], true);
  await using server = await oddServer((stream, index) => {
    if (index === 0) stream.send(deltaResponse("1", [{ name: "a", resource: packedCluster("a") }]));
  }, credentials);
  const asked = ["get", "--type", "cluster", "a", "--server", server.address, "--output", "jsonl"];
  const trusting = [
    "--tls-ca",
    own.certificate,
    "--tls-server-name",
    "xds.test",
    "--token-file",
    `${folder.path}/token`,
  ];
  const known = inProcess([...asked, ...trusting, "--tls-cert", client.certificate, "--tls-key", client.key]);
  assert.equal(await known.status, 0, known.out() + known.err());
  assert.equal(server.streams[0]?.authorization, "Bearer S3CR3T");
  assert.ok(!known.out().includes("S3CR3T"), known.out());
  for (const others of [trusting, [], ["--tls"]]) {
    const refused = inProcess([...asked, ...others, "--timeout", "1s"]);
    assert.equal(await refused.status, 1, `${others}`);
  }
  assert.equal(server.streams.length, 1);
});
