import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { createIssuer } from "../../../server/src/testing/identity/issuer.js";
import { eventually } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { servedApart } from "../testing/served.js";

test("keys of an issuer come over HTTPS, new ones are found by a new token, and the last ones stay", async (t) => {
  const authority = createAuthority("of the issuer");
  const { certificate, key } = authority.issue("localhost");
  const [first, second] = [await createIssuer({ kid: "first" }), await createIssuer({ kid: "second" })];
  const keys = [...first.jwks.keys];
  let asked = 0;
  const issuer = createServer({ cert: certificate, key }, (_, response) => {
    asked += 1;
    response.end(JSON.stringify({ keys }));
  }).listen(0, "localhost");
  await once(issuer, "listening");
  t.after(() => issuer.close());
  const url = `https://localhost:${(issuer.address() as AddressInfo).port}/keys`;
  await using beside = await testFolder({ ca: authority.certificate });
  // What the server trusts besides the authorities of Node.js.
  process.env.NODE_EXTRA_CA_CERTS = `${beside.path}/ca`;
  t.after(() => delete process.env.NODE_EXTRA_CA_CERTS);
  const jwt = `{ issuer: "https://issuer", audience: xdskit, jwks: "${url}" }`;
  const settings = `identities: [{ when: { jwt: ${jwt} }, node: {} }]\n`;
  await using server = await servedApart({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings });
  const isServed = async (token: string) => {
    const file = await beside.write("token", token);
    const get = ["get", "cluster", "--server", server.grpc, "--node-id", "edge", "--token-file", file];
    return (await inProcessEnds(...get, "--timeout", "3s")).status === 0;
  };
  assert.equal(await isServed(await first.sign("edge")), true);
  assert.equal(await isServed(await second.sign("edge")), false);
  keys.push(...second.jwks.keys);
  const next = await second.sign("edge");
  await eventually(() => isServed(next), Boolean);
  assert.ok(asked >= 2 && asked < 10, `${asked} questions`);
  issuer.closeAllConnections();
  issuer.close();
  assert.equal(await isServed(await first.sign("edge")), true, "with the issuer away");
});
