import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { XdskitError } from "@xdskit/api";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { waitFor, within } from "../../../server/src/testing/basics/wait-for.js";
import { getJson } from "../watching/api-request.js";
import { connectToKubernetes } from "./connect.js";
import { inClusterConnection } from "./in-cluster.js";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A folder, and what writes to it. */
async function folder(t: TestContext) {
  const path = await mkdtemp(join(tmpdir(), "xdskit-kubeconfig-"));
  t.after(() => rm(path, { recursive: true }));
  return async (name: string, text: string) => {
    const file = join(path, name);
    await writeFile(file, text);
    return file;
  };
}

const kubeconfig = (user: string, cluster = "{ server: 'https://10.0.0.1:6443/base' }") => `
apiVersion: v1
kind: Config
current-context: here
contexts: [{ name: here, context: { cluster: c, user: u, namespace: shop } }]
clusters: [{ name: c, cluster: ${cluster} }]
users: [{ name: u, user: ${user} }]
`;

async function refusal(run: Promise<unknown>): Promise<string> {
  const error = await run.then(
    () => assert.fail("it is taken"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof XdskitError, String(error));
  assert.equal(error.code, "XDSKIT_KUBECONFIG");
  return error.message;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a kubeconfig", () => {
  it("says the server of its current context, and the user's token and certificate", async (t) => {
    const write = await folder(t);
    await write("ca.pem", "THE CA");
    const user = `{ token: secret, client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")} }`;
    const cluster = "{ server: 'https://10.0.0.1:6443/base', certificate-authority: ca.pem, tls-server-name: kube }";
    const connection = await connectToKubernetes({ kubeconfig: await write("config", kubeconfig(user, cluster)) });
    assert.equal(connection.server.href, "https://10.0.0.1:6443/base");
    assert.deepEqual([connection.namespace, connection.serverName, connection.isChecked], ["shop", "kube", true]);
    assert.deepEqual(await connection.credentials(), { token: "secret", cert: "CERT", key: "KEY", ca: "THE CA" });
  });

  it("proves the user by a certificate, and the server by its authority", async (t) => {
    const write = await folder(t);
    const authority = createAuthority("of the cluster");
    const [own, strange] = [authority.issue("xdskit"), createAuthority("another").issue("xdskit")];
    const { certificate: cert, key } = authority.issue("kube", "IP:127.0.0.1");
    const tls = { cert, key, ca: authority.certificate, requestCert: true };
    const server = createServer(tls, ({ socket }, response) => {
      const { subject } = (socket as TLSSocket).getPeerCertificate();
      response.end(JSON.stringify({ user: subject.CN }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const asks = async (user: string, ca: string) => {
      const cluster = `{ server: '${url}', certificate-authority-data: ${base64(ca)} }`;
      const connection = await connectToKubernetes({ kubeconfig: await write("config", kubeconfig(user, cluster)) });
      return await getJson(connection, "/who", new AbortController().signal);
    };
    const data = ({ certificate, key }: typeof own) =>
      `{ client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)} }`;
    assert.deepEqual(await asks(data(own), authority.certificate), { user: "xdskit" });
    await assert.rejects(asks(data(strange), authority.certificate));
    await assert.rejects(asks("{}", authority.certificate));
    await write("own.pem", own.certificate);
    await write("own.key", own.key);
    const files = "{ client-certificate: own.pem, client-key: own.key }";
    assert.deepEqual(await asks(files, authority.certificate), { user: "xdskit" });
    await assert.rejects(asks(files, createAuthority("another").certificate), /certificate/);
  });

  it("names files that are read anew each time", async (t) => {
    const write = await folder(t);
    await write("token", "first\n");
    const connection = await connectToKubernetes({
      kubeconfig: await write("config", kubeconfig("{ tokenFile: token }")),
    });
    assert.equal((await connection.credentials()).token, "first");
    await write("token", "second\n");
    assert.equal((await connection.credentials()).token, "second");
  });

  it("has a token in a file, which is replaced, instead of the one beside it, which is older", async (t) => {
    const write = await folder(t);
    await write("token", "of-file\n");
    const token = async (user: string) =>
      (await (await connectToKubernetes({ kubeconfig: await write("config", kubeconfig(user)) })).credentials()).token;
    assert.equal(await token("{ token: old, tokenFile: token }"), "of-file");
    // As for kubectl.
    assert.equal(await token("{ token: old, tokenFile: nowhere }"), "old");
  });

  it("sends no credentials in plaintext to another machine", async (t) => {
    const write = await folder(t);
    const connect = async (user: string, server: string) =>
      connectToKubernetes({ kubeconfig: await write("config", kubeconfig(user, `{ server: '${server}' }`)) });
    const exec = "{ exec: { apiVersion: client.authentication.k8s.io/v1, command: who } }";
    for (const user of ["{ token: secret }", "{ tokenFile: t }", "{ client-certificate-data: Qw== }", exec]) {
      const said = await refusal(connect(user, "http://10.0.0.1:8080"));
      assert.match(said, /config: .*credentials would go to http:\/\/10\.0\.0\.1:8080 in plaintext.*https/);
      assert.doesNotMatch(said, /secret/);
    }
    await refusal(connect("{ token: secret }", "http://[fd00::1]:8080"));
    for (const server of ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080"])
      assert.equal((await connect("{ token: secret }", server)).server.origin, server);
    // kubectl proxy of another machine: nothing is proved.
    await connect("{}", "http://10.0.0.1:8080");
  });

  it("has a program say who the user is, again once that ends or is refused", async (t) => {
    const write = await folder(t);
    const printed = (token: string, until: string) =>
      JSON.stringify({ status: { token, expirationTimestamp: until, clientCertificateData: "C", clientKeyData: "K" } });
    const program = await write(
      "who",
      '#!/bin/sh\necho "$KUBERNETES_EXEC_INFO $1 $MORE" >> "$0.asked"\ncat "$0.says"\n',
    );
    await chmod(program, 0o700);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await write("who.says", printed("one", later));
    const exec =
      "{ exec: { apiVersion: client.authentication.k8s.io/v1, command: ./who, args: [a], env: [{ name: MORE, value: b }] } }";
    const connection = await connectToKubernetes({ kubeconfig: await write("config", kubeconfig(exec)) });
    assert.deepEqual(await connection.credentials(), { token: "one", cert: "C", key: "K", ca: undefined });
    await write("who.says", printed("two", new Date(Date.now() + 1_000).toISOString()));
    assert.equal((await connection.credentials()).token, "one");
    connection.refused();
    assert.equal((await connection.credentials()).token, "two");
    await write("who.says", printed("three", later));
    assert.equal((await connection.credentials()).token, "three");
    connection.refused();
    await write("who.says", "no credentials: token secret");
    const said = await refusal(connection.credentials());
    assert.match(said, /"\.\/who" of users\.exec gives no credentials: what it prints is no ExecCredential/);
    assert.doesNotMatch(said, /secret/);
  });

  it("ends a program once nobody waits for what it says", async (t) => {
    const write = await folder(t);
    const program = await write("who", "#!/bin/sh\ntrap '' TERM\necho $$ > \"$0.pid\"\nwhile :; do sleep 0.1; done\n");
    await chmod(program, 0o700);
    const exec = "{ exec: { apiVersion: client.authentication.k8s.io/v1, command: ./who } }";
    const connection = await connectToKubernetes({ kubeconfig: await write("config", kubeconfig(exec)) });
    const [one, other] = [new AbortController(), new AbortController()];
    const asked = [one, other].map(({ signal }) => connection.credentials(signal));
    for (const each of asked) each.catch(() => {});
    const pid = () => (existsSync(`${program}.pid`) ? Number(readFileSync(`${program}.pid`, "utf8")) : 0);
    await waitFor("the program", () => pid() > 0);
    const id = pid();
    t.after(() => isRunning(id) && process.kill(id, "SIGKILL"));
    one.abort();
    await delay(200);
    assert.ok(isRunning(id));
    other.abort();
    for (const each of asked) await within("the end", refusal(each));
    await waitFor("the end of the program", () => !isRunning(id));
    await write("who", `#!/bin/sh\necho '{"status":{"token":"next"}}'\n`);
    assert.equal((await connection.credentials(new AbortController().signal)).token, "next");
  });

  it("says what is wrong with it, and where", async (t) => {
    const write = await folder(t);
    const said = async (text: string) => refusal(connectToKubernetes({ kubeconfig: await write("config", text) }));
    assert.match(await said("a: [secret"), /config:\d+: it is not well-formed YAML/);
    assert.doesNotMatch(await said("a: [secret"), /secret/);
    assert.match(await said("[]"), /it names no current-context/);
    assert.match(await said("current-context: there"), /there is no context "there"; there are: none/);
    assert.match(await said(kubeconfig("{}").replace("user: u,", "user: v,")), /there is no user "v"; there are: u/);
    assert.match(await said(kubeconfig("{}", "{ server: here }")), /the cluster has no server with a URL/);
    assert.match(await said(kubeconfig("{ auth-provider: { name: gcp } }")), /auth-provider is not supported/);
    assert.match(await refusal(connectToKubernetes({ kubeconfig: "/nowhere" })), /\/nowhere: .*there is no such file/);
  });

  it("is found where kubectl looks; of several the first that has an entry counts", async (t) => {
    const write = await folder(t);
    const first = await write("first", "users: [{ name: u, user: { token: of-first } }]");
    const second = await write("second", kubeconfig("{ token: of-second }"));
    const connection = await connectToKubernetes({ env: { KUBECONFIG: `${first}:${second}` } });
    assert.equal((await connection.credentials()).token, "of-first");
    assert.equal(connection.server.host, "10.0.0.1:6443");
  });

  it("may lack files of several, as for kubectl, but not all", async (t) => {
    const write = await folder(t);
    const there = await write("there", kubeconfig("{ token: t }"));
    const connection = await connectToKubernetes({ env: { KUBECONFIG: `/nowhere:${there}:/nowhere/else` } });
    assert.equal(connection.from, there);
    assert.match(
      await refusal(connectToKubernetes({ env: { KUBECONFIG: "/nowhere:/nowhere/else" } })),
      /\/nowhere:\/nowhere\/else: .*there is no such file/,
    );
    const empty = await write("empty", "{}");
    assert.match(
      await refusal(connectToKubernetes({ env: { KUBECONFIG: `/nowhere:${empty}` } })),
      /empty: it names no current-context/,
    );
  });
});

describe("a pod", () => {
  it("proves itself with its service account, whose token is replaced", async (t) => {
    const write = await folder(t);
    const at = join(await write("token", "one"), "..");
    await write("ca.crt", "CA");
    await write("namespace", "shop\n");
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    const connection = await inClusterConnection(env, at);
    assert.equal(connection?.server.href, "https://[fd00::1]:6443/");
    assert.equal(connection.namespace, "shop");
    assert.deepEqual(await connection.credentials(), { token: "one", ca: "CA", cert: undefined, key: undefined });
    await write("token", "two");
    assert.equal((await connection.credentials()).token, "two");
    assert.equal(await inClusterConnection({}, at), undefined);
  });
});
