import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { connect, createServer, type TLSSocket } from "node:tls";
import { followRevoked, renewTls } from "@xdskit/grpc-server";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { waitFor } from "../testing/basics/wait-for.js";

test("connections that a list revokes together end at times of their own, while others have turns and stay", async (t) => {
  const authority = createAuthority("of all");
  const [own, revoked, good] = ["localhost", "revoked", "good"].map((name) => authority.issue(name));
  assert.ok(own !== undefined && revoked !== undefined && good !== undefined);
  const tls = { ca: authority.certificate, cert: own.certificate, key: own.key, requestCert: true };
  let served = 0;
  const server = createServer(tls, (socket) => {
    served += 1;
    socket.on("error", () => {}).resume();
  });
  followRevoked(server, { ...tls, isRevoked: () => false });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = async ({ certificate: cert, key }: typeof own) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: authority.certificate, cert, key });
    socket.on("error", () => {}).resume();
    await once(socket, "secureConnect");
    return socket;
  };
  const many: TLSSocket[] = [];
  const ended: number[] = [];
  for (let at = 0; at < 100; at += 1) {
    const socket = await open(revoked);
    socket.once("close", () => ended.push(performance.now()));
    many.push(socket);
  }
  const stays = await open(good);
  t.after(() => {
    for (const socket of [...many, stays]) socket.destroy();
    server.close();
  });
  // A client has done its handshake before the server has.
  await waitFor("all are served", () => served === 101);
  let turn = 0;
  const turns = setInterval(() => {
    turn += 1;
  });
  t.after(() => clearInterval(turns));
  const judgedIn = new Set<number>();
  const before = performance.now();
  renewTls(server, {
    ...tls,
    isRevoked(serials) {
      judgedIn.add(turn);
      for (const began = performance.now(); performance.now() - began < 2; );
      return serials.includes(revoked.serial);
    },
  });
  await waitFor("they have ended", () => ended.length === many.length);
  // It takes 200 ms, in slices of 5 ms.
  assert.ok(judgedIn.size >= 10, `all were judged in ${judgedIn.size} turns`);
  // 12 ms for each: 1.2 s in all, in the first tenth of which a tenth of them ends.
  const times = ended.map((at) => at - before);
  assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) > 600, `all within ${(times.at(-1) ?? 0) - (times[0] ?? 0)} ms`);
  assert.ok(times.filter((at) => at < 120).length < 50, times.join(" "));
  assert.equal(stays.destroyed, false);
  const next = connect({
    port,
    host: "127.0.0.1",
    servername: "localhost",
    ca: authority.certificate,
    cert: revoked.certificate,
    key: revoked.key,
  });
  next.on("error", () => {}).resume();
  await once(next, "close");
});
