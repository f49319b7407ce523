import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Certificate, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { peer } from "./harness/basics/peers.js";
import type { Place } from "./harness/basics/place.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, listener } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { apiserverPrograms, KubeApiserver } from "./harness/peers/kube-apiserver.js";
import { accountIn, eventsOf } from "./harness/peers/kube-objects.js";
import { handshake, startHandshakes } from "./harness/traffic/handshakes.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { startServe } from "./harness/xdskit/xdskit.js";

const host = "web.shop.test";
const variant = "ads-delta";
const issuer = "https://kubernetes.default.svc";

const settings = `
tls: { cert: server.pem, key: server.key, client_ca: mesh.pem }
identities:
  - { when: { spiffe: "spiffe://mesh.example/edge" }, node: { id: "edge.*" }, secrets: true }
  - { when: { spiffe: "spiffe://mesh.example/web" }, node: { id: "web.*" } }
`;

test("a pod serves Secrets of certificates to Envoys that may have them", { timeout: 300_000 }, async (t) => {
  const programs = apiserverPrograms(t);
  const [path, bwrap] = [peer("envoy", t) ?? "", peer("bwrap", t) ?? ""];
  if (Object.values({ ...programs, path, bwrap }).includes("")) return;
  const scene = await createScene(t);
  const api = await KubeApiserver.start(scene, programs);
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...accountIn("services.yaml"));

  const authority = createAuthority("servers");
  const clients = createAuthority("clients");
  const mesh = createAuthority("of the mesh");
  const keys: string[] = [];
  const issue = (): Certificate => {
    const issued = authority.issue(host);
    keys.push(issued.key);
    return issued;
  };
  const secret = (pair: Pick<Certificate, "certificate" | "key">) => ({
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: { name: "web-tls", namespace: "shop", labels: { serve: "true" } },
    stringData: { "tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": clients.certificate },
  });

  const { put, putPair } = movedFiles(scene.directory);
  await putPair("server", mesh.issue("server", "IP:127.0.0.1"));
  await put("mesh.pem", mesh.certificate);
  const file = await put("xdskit.yaml", settings);
  const port = await freePort();
  const source = configSource(variant);
  const folder = await createConfigFolder(scene.directory, {
    "listeners.yaml": [
      listener({
        name: "tls",
        port,
        routes: { route_config: { name: "inline", virtual_hosts: [answering("all", "hello")] } },
        tls: {
          require_client_certificate: true,
          common_tls_context: {
            tls_certificate_sds_secret_configs: [{ name: "shop/web-tls", sds_config: source }],
            validation_context_sds_secret_config: { name: "shop/web-tls/ca", sds_config: source },
          },
        },
      }),
    ],
  });
  const pod = await createPod(bwrap, api, scene.directory);
  const grpc = `127.0.0.1:${await freePort()}`;
  const start = () =>
    startServe(scene, folder.path, {
      grpc,
      place: pod.place,
      args: [
        ...["--kubernetes", "--namespace", "shop", "--tls-secrets", "serve=true", "--write-events"],
        ...["--settings", file, "--state", "off"],
      ],
    });
  let server = start();
  const proof = async (account: string) => {
    const pair = mesh.issue(account, `URI:spiffe://mesh.example/${account}`);
    return ["--tls-ca", join(scene.directory, "mesh.pem"), ...(await putPair(account, pair))];
  };
  const first = issue();
  const options = {
    port,
    host,
    trusted: authority.certificate,
    client: clients.issue("client"),
  };
  const become = (what: string, serial: string) =>
    eventually(what, async () => (await handshake(options)) === serial, { withinMs: 30_000 });

  const begun = await scene.step(
    "its account has the rights of the manifests, and the one for Secrets is asked for",
    async () => {
      await eventually("the role that is missing", () => /secrets\.yaml/.test(server.stderr.join("\n")), {
        withinMs: 20_000,
      });
      await api.put(...accountIn("secrets.yaml"), secret(first));
      await server.line(/^ready$/, 60_000);
    },
  );
  if (!begun) return;

  await scene.step("an Envoy that may have secrets shows the certificate, and nobody else gets it", async () => {
    await startEnvoy(scene, { path, variant, server: grpc, id: "edge.1", bootstrapArgs: await proof("edge") });
    assert.equal(await handshake(options), first.serial);
    await assert.rejects(handshake({ ...options, client: mesh.issue("client") }));
    for (const names of [["shop/web-tls", "shop/web-tls/ca"], []]) {
      const args = ["--server", grpc, "--type", "secret", "-o", "name", ...names];
      const may = await runXdskit(scene, "get", ...args, "--node-id", "edge.2", ...(await proof("edge")));
      assert.match(may.out, /secret\/shop\/web-tls$/m, may.err);
      const other = await runXdskit(scene, "get", ...args, "--node-id", "web.1", ...(await proof("web")));
      assert.deepEqual([other.out, other.status], ["", names.length > 0 ? 1 : 0], other.err);
    }
  });

  const handshakes = startHandshakes(scene, options);
  const second = issue();
  await scene.step("a new certificate arrives, and no handshake fails", async () => {
    await api.put(secret(second));
    await become("the new certificate", second.serial);
    assert.deepEqual(handshakes.failures(), []);
  });

  await scene.step("what is no certificate is an Event, and Envoy keeps the last good one", async () => {
    const { certificate } = issue();
    const another = issue();
    for (const [bad, message] of [
      [{ certificate, key: another.key }, /is not the key of/],
      [{ certificate: "no certificate", key: another.key }, /^tls\.crt: /],
    ] as const) {
      await api.put(secret(bad));
      await eventually(
        "the Event",
        async () => (await eventsOf(api, "shop"))?.some((event) => message.test(event.message)),
        { withinMs: 20_000 },
      );
      assert.equal(await handshake(options), second.serial);
    }
    const [event] = (await eventsOf(api, "shop")) ?? [];
    assert.deepEqual([event?.involvedObject.kind, event?.involvedObject.name], ["Secret", "web-tls"]);
    assert.deepEqual(handshakes.failures(), []);
  });

  await scene.step("a server that starts while it is none takes nothing from Envoy", async () => {
    await server.stop();
    server = start();
    const [, admin = ""] = await server.line(/^admin listening on (\S+)$/, 60_000);
    await server.line(/^ready$/, 60_000);
    await eventually(
      "Envoy at the new server",
      async () => (await (await fetch(`http://${admin}/api/v1/nodes`)).text()).includes("edge.1"),
      { withinMs: 60_000 },
    );
    await quiet(1_000);
    assert.equal(await handshake(options), second.serial);
    assert.deepEqual(handshakes.failures(), []);
  });

  await scene.step("a token that is replaced counts, also after its account was made anew", async () => {
    const [account] = accountIn("services.yaml").filter(({ kind }) => kind === "ServiceAccount");
    assert.ok(account);
    await api.remove(account);
    await api.put(account);
    await pod.renew();
    await api.kill();
    await api.start();
    const third = issue();
    await api.put(secret(third));
    await become("the certificate after that", third.serial);
    await handshakes.stop();
    assert.deepEqual(handshakes.failures(), []);
  });

  await scene.step("no log and no Event has a private key", async () => {
    const told = [...server.stdout, ...server.stderr, JSON.stringify(await eventsOf(api, "shop"))].join("\n");
    for (const key of keys) assert.ok(!told.includes(key.split("\n")[1] ?? assert.fail("no key")));
  });
});

/** A process of a pod: what Kubernetes gives it is where it is in each pod. */
async function createPod(bwrap: string, api: KubeApiserver, directory: string) {
  const folder = join(directory, "serviceaccount");
  await mkdir(folder);
  const { put } = movedFiles(folder);
  const renew = async () => void (await put("token", await api.token("xdskit", "xdskit", issuer)));
  await renew();
  await put("ca.crt", api.authority);
  await put("namespace", "xdskit");
  const { hostname, port } = new URL(api.url);
  const place: Place = {
    host: "127.0.0.1",
    run: (command, args) => ({
      command: bwrap,
      args: [
        ...["--dev-bind", "/", "/", "--tmpfs", "/run"],
        ...["--ro-bind", folder, "/run/secrets/kubernetes.io/serviceaccount", "--die-with-parent"],
        ...["--setenv", "KUBERNETES_SERVICE_HOST", hostname, "--setenv", "KUBERNETES_SERVICE_PORT", port],
        ...[command, ...args],
      ],
    }),
  };
  return { place, renew };
}
