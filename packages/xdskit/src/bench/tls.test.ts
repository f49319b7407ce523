import assert from "node:assert/strict";
import { it } from "node:test";
import type { BenchReport } from "@xdskit/fleet";
import { inProcessEnds } from "../testing/in-process.js";
import { tlsServer } from "../testing/tls-server.js";

it("a fleet comes over TLS, with its own certificate and a token, and shows none of them", async () => {
  await using tls = await tlsServer();
  const { server, trusting, certificate, at } = tls;
  const asked = ["bench", "--ads", "--type", "cluster", "--server", server.address, "--nodes", "3", "--json"];
  const known = await inProcessEnds(...asked, ...trusting, ...certificate, "--duration", "100ms");
  assert.equal(known.status, 0, known.out + known.err);
  assert.equal((JSON.parse(known.out) as BenchReport).state.complete, 3);
  assert.deepEqual(
    server.streams.map(({ authorization }) => authorization),
    [`Bearer ${tls.token}`, `Bearer ${tls.token}`, `Bearer ${tls.token}`],
  );
  assert.ok(!(known.out + known.err).includes(tls.token));
  const wrong = [
    [trusting, /certificate/],
    [[], /does it want TLS|ECONNRESET/],
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
