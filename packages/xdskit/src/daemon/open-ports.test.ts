import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "@xdskit/admin/log";
import { hashOfToken } from "@xdskit/admin/tokens";
import { isLoopback } from "@xdskit/server/address";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds, servesHere } from "../testing/in-process.js";
import { type Listeners, refuseOpen } from "./open-ports.js";

test("only addresses of this machine are loopback", () => {
  for (const host of ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST", "a.localhost"])
    assert.ok(isLoopback(host), host);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.example.org", "1127.0.0.1"])
    assert.ok(!isLoopback(host), host);
});

test("what lets in the whole network is refused with the line that closes it, and --insecure only warns", () => {
  const all = { host: "0.0.0.0", port: 0 };
  const own = { host: "127.0.0.1", port: 0 };
  const closed: Listeners = {
    grpc: own,
    rest: own,
    admin: own,
    replica: own,
    tls: false,
    knowsReplicas: false,
    adminTls: false,
    roles: false,
  };
  const socket = { path: "/run/xds.sock" };
  for (const [listeners, expected] of [
    [closed, []],
    [{ ...closed, grpc: socket, rest: undefined, admin: socket, replica: undefined }, []],
    [{ ...closed, grpc: all }, ["grpc TLS tls"]],
    [{ ...closed, rest: all, replica: all }, ["rest TLS tls", "replica TLS tls", "replica replicas replicas"]],
    [{ ...closed, grpc: all, rest: all, replica: all, tls: true }, ["replica replicas replicas"]],
    [{ ...closed, grpc: all, rest: all, replica: all, tls: true, knowsReplicas: true }, []],
    [{ ...closed, admin: all }, ["admin TLS admin_tls", "admin roles roles"]],
    [{ ...closed, admin: all, adminTls: true }, ["admin roles roles"]],
    [{ ...closed, admin: all, roles: true }, ["admin TLS admin_tls"]],
    [{ ...closed, admin: all, adminTls: true, roles: true }, []],
  ] as const) {
    const warned: string[] = [];
    const err = (line: string) => warned.push(JSON.parse(line).msg);
    const log = createLog({ err }, { level: "info", format: "json" });
    let found: readonly string[] = [];
    try {
      refuseOpen(listeners, false, log);
    } catch (error) {
      found = (error as { readonly findings: readonly { readonly message: string }[] }).findings.map(
        ({ message }) => message,
      );
    }
    const short = (messages: readonly string[]) =>
      messages.map((message) =>
        message.replace(/^(?:WARNING: )?(\w+) listens .* without (\w+): .* settings (\w+): [[{].*$/, "$1 $2 $3"),
      );
    assert.deepEqual(short(found), expected);
    assert.ok(found.every((message) => message.endsWith("or start with --insecure")));
    assert.deepEqual(warned, []);
    refuseOpen(listeners, true, log);
    assert.deepEqual(short(warned), expected);
  }
});

test("an open listener ends the start of serve and of relay with exit status 2, before anything listens", async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("web") });
  const free = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--state", "off"];
  for (const [option, address] of [
    ["--grpc", "0.0.0.0:0"],
    ["--rest", "[::]:0"],
    ["--admin", "0.0.0.0:0"],
  ] as const) {
    for (const command of [
      ["serve", folder.path],
      ["relay", "--server", "127.0.0.1:1"],
    ]) {
      const { status, out, err } = await inProcessEnds(...command, ...free, option, address);
      assert.equal(status, 2, err);
      assert.equal(out, "");
      assert.match(err, /XDSKIT_OPEN_LISTENER/);
    }
  }
  await using server = servesHere("serve", folder.path, ...free, "--grpc", "0.0.0.0:0", "--insecure");
  await server.seen(/^ready$/m);
  assert.match(server.err(), /WARNING: grpc listens beyond this machine without TLS/);
});

test("the admin listener has certificates of its own, which are renewed, and settings cannot open it", async () => {
  const authority = createAuthority("an authority");
  const pem = (name: string) => {
    const { certificate, key } = authority.issue(name);
    return { [`${name}.pem`]: certificate, [`${name}.key`]: key };
  };
  const token = "xdskit_of_this_test";
  const roles = ['- { when: { dns: "ops.test" }, may: [read, write] }', "- { when: { token: ci }, may: [read] }"];
  const settings = (list: readonly string[], cert = "localhost") =>
    `admin_tls: { cert: ${cert}.pem, key: ${cert}.key, client_ca: ca.pem }\ntokens: { ci: "${hashOfToken(token)}" }\n${list.length === 0 ? "" : `roles:\n${list.map((role) => `  ${role}\n`).join("")}`}`;
  const files = {
    "ca.pem": authority.certificate,
    ...pem("localhost"),
    ...pem("ops.test"),
    ...pem("other.test"),
    token,
  };
  await using folder = await testFolder({ "c/a.yaml": clusterYaml("web") });
  await using beside = await testFolder({ ...files, "xdskit.yaml": settings(roles) });
  const at = (name: string) => `${beside.path}/${name}`;
  const free = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "0.0.0.0:0", "--state", "off"];
  await using server = servesHere("serve", `${folder.path}/c`, "--settings", at("xdskit.yaml"), ...free);
  const [, port = ""] = await server.seen(/^admin listening on 0\.0\.0\.0:(\d+)$/m);
  await server.seen(/^ready$/m);
  const asked = ["--server", `https://localhost:${port}`, "--tls-ca", at("ca.pem")];
  const as = (name: string) => ["--tls-cert", at(`${name}.pem`), "--tls-key", at(`${name}.key`)];
  const applied = await inProcessEnds("apply", "-f", `${folder.path}/c`, ...asked, ...as("ops.test"));
  assert.equal(applied.status, 0, applied.err);
  const history = await inProcessEnds("history", ...asked, ...as("other.test"), "--token-file", at("token"));
  assert.match(history.out, /dns ops\.test/);
  for (const wrong of [as("other.test"), []])
    assert.equal((await inProcessEnds("history", ...asked, ...wrong)).status, 1);
  const refused = await inProcessEnds(
    "apply",
    "-f",
    `${folder.path}/c`,
    ...asked,
    ...as("other.test"),
    "--token-file",
    at("token"),
  );
  assert.match(refused.err, /"token ci" may not write/);
  const renewed = authority.issue("localhost");
  await beside.write("localhost.key", renewed.key);
  await beside.write("localhost.pem", renewed.certificate);
  await server.seen(/certificates renewed/, "err");
  assert.equal((await inProcessEnds("history", ...asked, ...as("ops.test"))).status, 0);
  await beside.write("xdskit.yaml", settings([]));
  await server.seen(/the new settings cannot be used now/, "err");
  assert.match(server.err(), /admin listens beyond this machine without roles/);
  assert.equal((await inProcessEnds("history", ...asked, ...as("other.test"))).status, 1);
});
