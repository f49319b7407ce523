import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import type { TLSSocket } from "node:tls";
import { XdskitError } from "@xdskit/api";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { type HttpsOptions, httpsOptionsOf } from "./https-options.js";

const folder = mkdtempSync(join(tmpdir(), "xdskit-https-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const authority = createAuthority("an authority");
const own = authority.issue("the server", "DNS:xds.example");
const server = createServer(
  { ca: authority.certificate, cert: own.certificate, key: own.key, requestCert: true },
  (request, response) => {
    response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN);
  },
);
after(() => server.close());

const ask = (port: number, options: HttpsOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, agent: false, ...options }, (response) => {
      response.setEncoding("utf8").on("data", resolve);
    });
    request.on("error", reject);
  });

it("a REST server is shown the client's certificate, and is asked for its name", async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;
  const [first, second] = [authority.issue("first"), authority.issue("second")];
  const files = {
    caFile: write("ca.pem", authority.certificate),
    certificateFile: write("own.pem", first.certificate),
    keyFile: write("own.key", first.key),
  };
  const options = httpsOptionsOf({ kind: "rest", url, tls: { ...files, serverName: "xds.example" } });
  assert.equal(await ask(port, await options()), "first");
  write("own.pem", second.certificate);
  write("own.key", second.key);
  assert.equal(await ask(port, await options()), "second");
  await assert.rejects(ask(port, await httpsOptionsOf({ kind: "rest", url, tls: files })()), /altnames|IP/);
});

it("TLS settings with a plaintext URL are refused", () => {
  const refused = () => httpsOptionsOf({ kind: "rest", url: "http://127.0.0.1:1", tls: {} });
  assert.throws(refused, (error) => error instanceof XdskitError && error.code === "XDSKIT_CREDENTIALS");
});
