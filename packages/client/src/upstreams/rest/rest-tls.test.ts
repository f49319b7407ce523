import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import type { TLSSocket } from "node:tls";
import { createAuthority } from "../../../../api/src/testing/certificates.js";
import type { TlsSettings } from "../../options/tls-settings.js";
import { respond } from "../../testing/odd/odd-rest-server.js";
import { recordUpstream, typeNamed } from "../../testing/scripted/recorded-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import { createRestUpstream } from "./rest-upstream.js";

const folder = mkdtempSync(join(tmpdir(), "xdskit-rest-tls-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

it("an upstream polls over TLS, shows the client's certificate as it is then, and says why a handshake fails", async () => {
  const authority = createAuthority("an authority");
  const own = authority.issue("the server", "IP:127.0.0.1");
  const [first, second] = [authority.issue("first"), authority.issue("second")];
  const server = createServer(
    { ca: authority.certificate, cert: own.certificate, key: own.key, requestCert: true },
    (request, response) => {
      request.resume();
      // The only cluster names the caller.
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      respond(response, "1", [String(subject?.CN)]);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const start = (tls: TlsSettings) =>
    recordUpstream((context, sink) =>
      createRestUpstream({ kind: "rest", url, tls, refreshDelayMs: 20 }, context, sink),
    );
  const good = start({
    caFile: write("ca.pem", authority.certificate),
    certificateFile: write("own.pem", first.certificate),
    keyFile: write("own.key", first.key),
  });
  const bad = start({});
  try {
    for (const { upstream } of [good, bad]) upstream.subscribe(typeNamed("cds"), ["*"]);
    await waitFor("the first", () => good.lines.includes("+first@1"));
    write("own.pem", second.certificate);
    write("own.key", second.key);
    await waitFor("the second", () => good.lines.includes("+second@1 -first"));
    await waitFor("the failure", () => bad.lines.length > 0);
    assert.match(bad.lines[0] ?? "", /^failed cluster: TLS with https:\S+ failed: .*\[XDSKIT_TLS_HANDSHAKE\]$/);
  } finally {
    await good.upstream.close();
    await bad.upstream.close();
    server.closeAllConnections();
    server.close();
  }
});
