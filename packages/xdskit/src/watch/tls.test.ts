import assert from "node:assert/strict";
import { it } from "node:test";
import { inProcess } from "../testing/in-process.js";
import { tlsServer } from "../testing/tls-server.js";

it("xdskit watch asks over TLS with its own certificate and a token, and shows neither", async () => {
  await using tls = await tlsServer();
  const { server, trusting, certificate } = tls;
  const asked = ["get", "--type", "cluster", "a", "--server", server.address, "--output", "jsonl"];
  const known = inProcess([...asked, ...trusting, ...certificate]);
  assert.equal(await known.status, 0, known.out() + known.err());
  assert.equal(server.streams[0]?.authorization, `Bearer ${tls.token}`);
  assert.ok(!known.out().includes(tls.token), known.out());
  for (const others of [trusting, [], ["--tls"]]) {
    const refused = inProcess([...asked, ...others, "--timeout", "1s"]);
    assert.equal(await refused.status, 1, `${others}`);
  }
  assert.equal(server.streams.length, 1);
});
