import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createClient } from "@xdskit/client";
import { createServer } from "@xdskit/server";
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
