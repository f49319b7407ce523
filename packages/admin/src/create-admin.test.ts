import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createClient } from "@xdskit/client";
import { createServer } from "@xdskit/server";
import { createAuthority } from "../../api/src/testing/certificates.js";
import { waitFor } from "../../server/src/testing/basics/wait-for.js";
import { hashOfToken, newToken } from "./access/tokens.js";
import { createAdmin } from "./create-admin.js";
import { adminListenerCall } from "./listener/option-table.js";

const cluster = (name: string) => create(ClusterSchema, { name });

test("a server of one's own has the API, the metrics and the probes of serve, by one call", async () => {
  const server = createServer();
  const admin = createAdmin(server, { name: "mine" });
  const url = `http://${await admin.listen("127.0.0.1:0")}`;
  const text = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    assert.equal(response.status, 200, path);
    return await response.text();
  };
  try {
    server.config.set([cluster("web")]);
    assert.equal(await text("/readyz"), "ready\n");
    assert.equal(await text("/livez"), "ok\n");
    const metrics = await text("/metrics");
    assert.match(metrics, /^xdskit_resources\{group="all",type="cluster"\} 1$/m);
    assert.match(metrics, /^xdskit_server_info\{name="mine"\} 1$/m);
    assert.equal(JSON.parse(await text("/api/v1/server")).name, "mine");
    assert.match(await text("/api/v1/openapi.json"), /"openapi":\s*"3\.1/);

    // Layers come and go while it runs: those of now are shown.
    const layers = async () => (JSON.parse(await text("/api/v1/layers")).layers as { name: string }[]).map(nameOf);
    assert.deepEqual(await layers(), ["default"]);
    server.config.layer("edge").set([cluster("edge")]);
    assert.deepEqual(await layers(), ["default", "edge"]);
    const { resources } = JSON.parse(await text("/api/v1/layers/edge/resources"));
    assert.deepEqual(resources.map(nameOf), ["edge"]);

    const write = await fetch(`${url}/api/v1/layers/edge/changes`, { method: "POST", body: "{}" });
    assert.notEqual(write.status, 200);
  } finally {
    await admin.close();
    await server.close();
  }
  await assert.rejects(fetch(`${url}/livez`));
});

const nameOf = ({ name }: { readonly name: string }) => name;

test("what happens is logged as serve logs it, until the listener is closed", async () => {
  const server = createServer();
  const lines: string[] = [];
  const admin = createAdmin(server, { log: { level: "debug", write: (line) => lines.push(line) } });
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  server.config.set([cluster("web")]);
  const read = async () => {
    const client = createClient({ servers: [grpc], node: { id: "reader" } });
    await client.get(ClusterSchema, "web");
    await client.close();
  };
  try {
    await read();
    await waitFor("the end of the stream", () =>
      lines.some((line) => line.includes("-closed") || line.includes("disconnected")),
    );
    const events = lines.map((line) => JSON.parse(line) as { event: string; node?: string });
    assert.ok(
      events.some(({ event, node }) => event === "acknowledged" && node === "reader"),
      lines.join(""),
    );
    await admin.close();
    lines.length = 0;
    await read();
    assert.deepEqual(lines, []);
  } finally {
    await admin.close();
    await server.close({ timeoutMs: 500 });
  }
});

test("roles and tokens hold, and beyond this machine nothing opens without them", async () => {
  const server = createServer();
  const token = newToken();
  const tokens = { ci: [hashOfToken(token)] };
  const access = { tokens, roles: [{ when: { token: "ci" }, may: ["read"] }] } as const;
  const admin = createAdmin(server, { access });
  try {
    const url = `http://${await admin.listen("127.0.0.1:0")}`;
    assert.equal((await fetch(`${url}/metrics`)).status, 401);
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await fetch(`${url}/metrics`, { headers })).status, 200);
  } finally {
    await admin.close();
  }
  const open = { code: "XDSKIT_OPEN_LISTENER" };
  await assert.rejects(createAdmin(server).listen("0.0.0.0:0"), {
    ...open,
    message: /give createAdmin tls and access/,
  });
  await assert.rejects(createAdmin(server, { access }).listen("0.0.0.0:0"), {
    ...open,
    message: /createAdmin tls, or/,
  });
  const insecure = createAdmin(server, { insecure: true });
  assert.match(await insecure.listen("0.0.0.0:0"), /^0\.0\.0\.0:\d+$/);
  await insecure.close();
  await server.close();
});

test("a wrong server, option, role or address is named", async () => {
  const server = createServer();
  const refused = (given: unknown, options: unknown, message: RegExp) =>
    assert.throws(() => createAdmin(given as never, options as never), { code: "XDSKIT_ADMIN_OPTION", message });
  refused(undefined, {}, /^createAdmin: server is missing/);
  refused({}, {}, /^createAdmin: server must have a function "nodes"/);
  refused(server, { nmae: "x" }, /^createAdmin: there is no option "nmae"; did you mean "name"/);
  refused(
    server,
    { access: { roels: [] } },
    /"access\.roels"; did you mean "access\.roles"|"access\.roels"; did you mean "roles"/,
  );
  refused(
    server,
    { access: { roles: [{ when: {}, may: ["read"] }] } },
    /access\.roles\[0\]\.when: it needs a condition/,
  );
  const may = ["read"];
  const access = (given: object, message: RegExp) => refused(server, { access: given }, message);
  const aHash =
    /^createAdmin: access\.tokens\.ci: expected a list with hashes of tokens, as hashOfToken\(\) makes them/;
  for (const ci of [["S3CR3T"], `sha256:${"0".repeat(64)}`, [`sha256:${"0".repeat(63)}`], [], [1]])
    access({ tokens: { ci } }, aHash);
  access({ tokens: { "a b": [] } }, /access\.tokens: "a b" is no name of a token/);
  access({ roles: [{ when: { unix: true }, may: ["raed"] }] }, /access\.roles\[0\]\.may\[0\]: expected read, operate,/);
  access({ roles: [{ when: { unix: true }, may, writes_per_second: Number.NaN }] }, /roles\[0\]\.writes_per_second: /);
  access({ roles: [{ when: { user: 5 }, may }] }, /access\.roles\[0\]\.when\.user: it must be a string/);
  access(
    { roles: [{ when: { tokn: "ci" }, may }] },
    /roles\[0\]\.when: there is no condition "tokn"; did you mean "token"/,
  );
  access({ roles: [{ when: { network: 10 }, may }] }, /access\.roles\[0\]\.when\.network: it must be/);
  access({ trusted_proxies: { from: ["10.0.0.0/99"] } }, /access\.trusted_proxies\.from\[0\]: expected an IP address/);
  refused(server, { log: { level: "loud" } }, /createAdmin: log\.level: it must be debug, info, warn, error, silent/);
  for (const option of Object.keys(adminListenerCall.table))
    refused(server, { [option]: Symbol("S3CR3T") }, new RegExp(`^createAdmin: ${option} must be .*, not a symbol`));
  const admin = createAdmin(server);
  await assert.rejects(admin.listen("19000"), { code: "XDSKIT_ADDRESS_INVALID", message: /admin\.listen: "19000"/ });
  await assert.rejects(admin.listen(19000 as never), { code: "XDSKIT_ADDRESS_INVALID", message: /a number/ });
  const first = await admin.listen("127.0.0.1:0");
  await assert.rejects(createAdmin(server).listen(first), { code: "XDSKIT_ADDRESS_IN_USE" });
  await assert.rejects(admin.listen("127.0.0.1:0"), { code: "XDSKIT_ADMIN_OPTION" });
  await admin.close();
  await server.close();
});

test("a connection that speaks another protocol is logged once with what to do, and told to the program", async () => {
  const server = createServer();
  const lines: string[] = [];
  const told: (readonly [peer: string, reason: string])[] = [];
  const log = { write: (line: string) => void lines.push(line) };
  const admin = createAdmin(server, { log, onRefused: (...refusal) => told.push(refusal) });
  const [host, port] = (await admin.listen("127.0.0.1:0")).split(":");
  const answer = async (bytes: string) => {
    const socket = connect({ host, port: Number(port) });
    socket.write(bytes, "latin1");
    const answered = await text(socket.setEncoding("latin1"));
    socket.destroy();
    return answered;
  };
  try {
    for (const [bytes, reason] of [
      ["PROXY TCP4 1.1.1.1 1.1.1.2 5 6\r\nGET /livez HTTP/1.1\r\n\r\n", /header of the PROXY protocol.* send none$/],
      ["\r\n\r\n\0\r\nQUIT\n!\u0011\0\f", /header of the PROXY protocol/],
      ["\u0016\u0003\u0001\0\u0005\u0001", /^it speaks TLS, and this port is plaintext/],
      ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^it speaks HTTP\/2, .* gRPC has a port of its own$/],
    ] as const) {
      assert.match(await answer(bytes), /^HTTP\/1\.1 400 /, bytes);
      const [peer = "", said = ""] = told.at(-1) ?? [];
      assert.match(peer, /^127\.0\.0\.1:\d+$/);
      assert.match(said, reason);
    }
    assert.match(await answer("HELLO\r\n\r\n"), /^HTTP\/1\.1 400 /);
    assert.equal(told.length, 4);
    // Both headers of the PROXY protocol get the same line.
    const logged = lines.map((line) => JSON.parse(line) as { event: string; reason: string });
    const reasons = logged.filter(({ event }) => event === "handshake-failed").map(({ reason }) => reason);
    assert.deepEqual(reasons, [...new Set(told.map(([, reason]) => reason))]);
  } finally {
    await admin.close();
    await server.close();
  }
});

test("a connection that is refused is told and answered although the log and the program throw", async () => {
  const server = createServer();
  const told: string[] = [];
  const fails = (of: string) => {
    told.push(of);
    throw new Error("mine");
  };
  const admin = createAdmin(server, { log: { write: () => fails("log") }, onRefused: () => fails("program") });
  const [host, port] = (await admin.listen("127.0.0.1:0")).split(":");
  const socket = connect({ host, port: Number(port) });
  try {
    socket.write("PROXY TCP4 1.1.1.1 1.1.1.2 5 6\r\n");
    assert.match(await text(socket), /^HTTP\/1\.1 400 /);
    assert.deepEqual(told, ["log", "program"]);
  } finally {
    socket.destroy();
    await admin.close();
    await server.close();
  }
});

test("a connection without TLS to a listener with it is told", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-admin-tls-"));
  t.after(() => rm(folder, { recursive: true }));
  const { certificate, key } = createAuthority("admin").issue("localhost");
  const tls = { certificateFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  await writeFile(tls.certificateFile, certificate);
  await writeFile(tls.keyFile, key);
  const server = createServer();
  const told: string[] = [];
  const admin = createAdmin(server, { tls, onRefused: (_, reason) => told.push(reason) });
  const [host, port] = (await admin.listen("127.0.0.1:0")).split(":");
  const socket = connect({ host, port: Number(port) }).on("error", () => {});
  socket.write("PROXY TCP4 1.1.1.1 1.1.1.2 5 6\r\n");
  await waitFor("the refusal", () => told.length > 0);
  socket.destroy();
  await admin.close();
  await server.close();
  assert.deepEqual(told, ["it does not speak TLS"]);
});

test("two calls of listen open one listener, and close ends it even while it begins to listen", async () => {
  const server = createServer();
  const listens = async (address: string) =>
    await fetch(`http://${address}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
  const twice = createAdmin(server);
  const first = twice.listen("127.0.0.1:0");
  await assert.rejects(twice.listen("127.0.0.1:0"), { code: "XDSKIT_ADMIN_OPTION", message: /listens already/ });
  assert.ok(await listens(await first));
  await twice.close();
  assert.ok(!(await listens(await first)));

  const closed = createAdmin(server);
  const address = closed.listen("127.0.0.1:0");
  await closed.close();
  assert.ok(!(await listens(await address)));

  // One that could not listen may try again.
  const taken = createAdmin(server);
  const at = await taken.listen("127.0.0.1:0");
  const again = createAdmin(server);
  await assert.rejects(again.listen(at), { code: "XDSKIT_ADDRESS_IN_USE" });
  assert.ok(await listens(await again.listen("127.0.0.1:0")));
  await Promise.all([taken.close(), again.close(), server.close()]);
});
