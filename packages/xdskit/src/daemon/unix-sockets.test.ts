import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, statSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type Running, start, xdskit, xdskitEnds } from "../testing/command.js";
import { testFolder } from "../testing/folder.js";

const cluster = `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: web\n`;

/** The three listeners of a server, each on a socket below a folder. */
function sockets(folder: string): readonly string[] {
  return ["grpc", "rest", "admin"].flatMap((name) => [`--${name}`, `unix:${join(folder, name)}`]);
}

function serveOn(folder: string, served: string, ...args: readonly string[]): Running {
  return xdskit("serve", served, "--state", "off", ...sockets(folder), ...args);
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function poll(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    request({ socketPath, path: "/v3/discovery:clusters", method: "POST", headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve(body));
    })
      .on("error", reject)
      .end('{"node":{"id":"a"}}');
  });
}

test("every listener may be a Unix socket, which its owner alone may use, and which is gone at the end", async () => {
  await using served = await testFolder({ "a.yaml": cluster });
  await using beside = await testFolder();
  const at = (name: string) => join(beside.path, name);
  await using server = serveOn(beside.path, served.path);
  await server.seen(/^ready$/m);
  for (const name of ["grpc", "rest", "admin"]) {
    assert.match(server.out(), new RegExp(`^${name} listening on unix:${at(name)}$`, "m"));
    assert.equal(modeOf(at(name)), "600");
  }
  const got = await xdskitEnds("get", "--server", `unix:${at("grpc")}`, "--type", "cluster");
  assert.match(got.out, /name: web/);
  assert.match(await poll(at("rest")), /"web"/);
  const asked = ["--server", `unix:${at("admin")}`];
  assert.equal((await xdskitEnds("apply", "-f", join(served.path, "a.yaml"), ...asked)).status, 0);
  const history = await xdskitEnds("history", ...asked);
  assert.equal(history.status, 0, history.err);
  const status = await xdskitEnds("status", "--json", "--server", `unix:${at("grpc")}`);
  assert.equal(status.status, 0, status.err);
  server.kill("SIGTERM");
  assert.equal((await server.ended()).status, 0);
  for (const name of ["grpc", "rest", "admin"]) assert.ok(!existsSync(at(name)), name);
});

/** What a program of another user gets from two listeners: a status each. */
async function asUser(uid: number, ...requests: readonly { readonly socketPath: string; readonly path: string }[]) {
  const program = `const { request } = require("http");
for (const asked of ${JSON.stringify(requests)}) {
  const headers = { "content-type": "application/json" };
  const isPoll = asked.path.startsWith("/v3");
  request({ ...asked, ...(isPoll ? { method: "POST", headers } : {}) }, (response) => {
    console.log(asked.path, response.resume().statusCode);
  }).end(isPoll ? '{"node":{"id":"a"}}' : undefined);
}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], { uid, gid: uid, cwd: "/" });
  return stdout.trim().split("\n").sort();
}

const { getuid } = process;

test("a rule names the users who may call over a Unix socket", { skip: process.platform !== "linux" }, async (t) => {
  const own = getuid?.() ?? 0;
  const settings = (uid: number) =>
    `identities: [{ when: { unix: { uid: ${uid} } }, node: {} }]\nroles: [{ when: { unix: { uid: ${uid} } }, may: [read] }]\n`;
  await using served = await testFolder({ "a.yaml": cluster, "xdskit.yaml": settings(own) });
  await using beside = await testFolder();
  chmodSync(beside.path, 0o755);
  const at = (name: string) => join(beside.path, name);
  const open = ["grpc", "rest", "admin"].flatMap((name) => [`--${name}`, `unix:${at(name)}?mode=666`]);
  await using server = xdskit("serve", served.path, "--state", "off", ...open);
  await server.seen(/^ready$/m);
  const both = [
    { socketPath: at("admin"), path: "/api/v1/layers" },
    { socketPath: at("rest"), path: "/v3/discovery:clusters" },
  ];
  const got = await xdskitEnds("get", "--server", `unix:${at("grpc")}`, "--type", "cluster");
  assert.match(got.out, /name: web/);
  assert.deepEqual(await asUser(own, ...both), ["/api/v1/layers 200", "/v3/discovery:clusters 200"]);

  const other = 65534;
  await t.test("and nobody else", { skip: own !== 0 && "only root may start programs of others" }, async () => {
    assert.deepEqual(await asUser(other, ...both), ["/api/v1/layers 401", "/v3/discovery:clusters 403"]);
    await served.write("xdskit.yaml", settings(other));
    await server.seen(/settings in use: identities, roles/, "err");
    assert.deepEqual(await asUser(other, ...both), ["/api/v1/layers 200", "/v3/discovery:clusters 200"]);
    const refused = await xdskitEnds("get", "--server", `unix:${at("grpc")}`, "--type", "cluster");
    assert.notEqual(refused.status, 0);
    assert.match(server.err(), /caller refused .*of user 0/);
    assert.match(server.err(), /peer=unix\b/);
    assert.doesNotMatch(server.err(), /unknown/);
  });
});

test("a socket that a killed process left is replaced, and one of a live process or another file is not", async () => {
  await using served = await testFolder({ "a.yaml": cluster });
  await using beside = await testFolder();
  const path = join(beside.path, "admin");
  await using killed = serveOn(beside.path, served.path);
  await killed.seen(/^ready$/m);
  killed.kill("SIGKILL");
  await killed.ended();
  assert.ok(existsSync(path));
  await using server = serveOn(beside.path, served.path, "--admin", `unix:${path}?mode=660`);
  await server.seen(/^ready$/m);
  assert.equal(modeOf(path), "660");
  const second = await xdskitEnds("serve", served.path, "--state", "off", ...sockets(beside.path));
  assert.equal(second.status, 1);
  assert.match(second.err, /cannot listen on unix:\S+ \(--admin\): another program listens there/);
  const history = await xdskitEnds("history", "--server", `unix:${path}`);
  assert.equal(history.status, 0, history.err);
  const file = await beside.write("file", "not a socket");
  const third = await xdskitEnds("serve", served.path, "--state", "off", "--admin", `unix:${file}`);
  assert.equal(third.status, 1);
  assert.match(third.err, /the file is no socket/);
  assert.ok(existsSync(file));
});

test("the workers of a server share its sockets, also those that replace what a killed one left", async () => {
  await using served = await testFolder({ "a.yaml": cluster });
  await using beside = await testFolder();
  const left = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";
  for (const name of ["grpc", "rest", "admin"]) {
    await using killed = start(process.execPath, ["-e", left, join(beside.path, name)]);
    await killed.ended();
    assert.ok(existsSync(join(beside.path, name)));
  }
  await using server = serveOn(beside.path, served.path, "--workers", "2");
  await server.seen(/^ready$/m);
  assert.equal(modeOf(join(beside.path, "grpc")), "600");
  const got = await xdskitEnds("get", "--server", `unix:${join(beside.path, "grpc")}`, "--type", "cluster");
  assert.match(got.out, /name: web/);
});

test("an address that is too long for a socket, or has a wrong mode, is wrong usage", async () => {
  for (const place of [`unix:/${"a".repeat(103)}`, "unix:/a?mode=9", "unix:a"]) {
    const { status, err } = await xdskitEnds("serve", "--admin", place);
    assert.equal(status, 2);
    assert.match(err, /Expected HOST:PORT.*or unix:\/PATH/);
  }
});

test("the commands take the server of the environment", async () => {
  await using beside = await testFolder();
  const path = join(beside.path, "admin");
  const other = createServer().listen(path);
  process.env.XDSKIT_SERVER = `unix:${join(beside.path, "nobody")}`;
  try {
    const { status, err } = await xdskitEnds("history");
    assert.equal(status, 1);
    assert.match(err, /nobody/);
  } finally {
    delete process.env.XDSKIT_SERVER;
    other.close();
  }
});
