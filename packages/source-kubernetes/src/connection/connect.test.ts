import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { XdskitError } from "@xdskit/api";
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
