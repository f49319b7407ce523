import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";
import { rightsIn } from "./harness/peers/kube-objects.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** As docs/kubernetes.md has it, and by certificate. */
const reviewed = `
tls: { cert: server.pem, key: server.key, client_ca: mesh.pem, client_certs: optional }
identities:
  - { when: { spiffe: "spiffe://mesh.example/ns/{ns}/sa/{sa}" }, node: { id: "{sa}.{ns}.*" } }
  - when:
      jwt:
        issuer: https://kubernetes.default.svc
        audience: xdskit
        review: true
        claims: { sub: "system:serviceaccount:{ns}:{sa}" }
    node: { id: "{sa}.{ns}.*" }
`;

const account = (name: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name, namespace: "shop" },
});

test("pods prove their account: by tokens of which the API server says whether they are good, and by certificates", {
  timeout: 240_000,
}, async (t) => {
  const programs = apiserverPrograms(t);
  if (Object.values(programs).includes("")) return;
  const scene = await createScene(t);
  const api = await KubeApiserver.start(scene, programs);
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...rightsIn("services.yaml"));
  await api.put(account("web"), account("gone"), {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "cart", namespace: "shop" },
    spec: { ports: [{ name: "grpc", port: 8080 }] },
  });
  const { put, putPair } = movedFiles(scene.directory);
  const authority = createAuthority("of servers");
  await putPair("server", authority.issue("server", "IP:127.0.0.1"));
  const mesh = createAuthority("of the mesh");
  await put("mesh.pem", mesh.certificate);
  const [ca, settings] = [await put("servers.pem", authority.certificate), await put("xdskit.yaml", reviewed)];
  const args = ["--kubernetes", "--kubeconfig", api.kubeconfig("xdskit"), "--settings", settings, "--state", "off"];
  const { grpc, process: server } = await serve(scene, undefined, { args });
  const showing = (node: string, ...proof: readonly string[]) => {
    const name = ["--type", "endpoint", "-o", "name", "cart.shop:8080"];
    return runXdskit(scene, "get", "--server", grpc, "--tls-ca", ca, ...proof, "--node-id", node, ...name);
  };
  const asking = async (token: string, node: string) => showing(node, "--token-file", await put("token", token));
  const served = async (token: string, node: string) =>
    assert.match((await asking(token, node)).out, /endpoint\/cart\.shop:8080/);
  const refused = async (token: string, node: string) =>
    assert.match((await asking(token, node)).err, /PERMISSION_DENIED/i);

  await scene.step("without the right to ask, all are refused, and the log says why", async () => {
    await refused(await api.token("shop", "web", "xdskit"), "web.shop.1");
    await eventually("a line of the log", () =>
      /are refused .*cannot create resource .*tokenreviews\.yaml/.test(server.stderr.join("\n")),
    );
    await api.put(...rightsIn("tokenreviews.yaml"));
  });

  const token = await api.token("shop", "web", "xdskit");
  await scene.step("a pod is the account of its token, and only for the audience of the server", async () => {
    await eventually("the right", async () => (await asking(token, "web.shop.1")).out !== "", { withinMs: 20_000 });
    await served(token, "web.shop.1");
    await refused(token, "web.bank.1");
    await refused(await api.token("shop", "web", "another"), "web.shop.1");
    const [head, , signature] = token.split(".");
    const payload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...payload, sub: "system:serviceaccount:bank:web" }));
    await refused([head, forged.toString("base64url"), signature].join("."), "web.bank.1");
    assert.match(server.stderr.join("\n"), /tokens of pods are reviewed again/);
  });

  await scene.step(
    "a token whose account was deleted is not good any more, which its signature does not say",
    async () => {
      const late = await api.token("shop", "gone", "xdskit");
      await api.remove(account("gone"));
      await refused(late, "gone.shop.1");
    },
  );

  await scene.step("a certificate proves a pod as well", async () => {
    const own = await putPair("web", mesh.issue("web", "URI:spiffe://mesh.example/ns/shop/sa/web"));
    assert.match((await showing("web.shop.1", ...own)).out, /endpoint\/cart\.shop:8080/);
    assert.match((await showing("web.bank.1", ...own)).err, /PERMISSION_DENIED/i);
  });

  await scene.step("while the API server is away, known tokens hold, and others are refused", async () => {
    const late = await api.token("shop", "web", "xdskit");
    await api.kill();
    await served(token, "web.shop.2");
    await refused(late, "web.shop.1");
    await eventually("a line of the log", () => server.stderr.join("\n").split("others are refused").length === 3);
    await api.start();
    await eventually("an answer", async () => (await asking(late, "web.shop.1")).out !== "", { withinMs: 40_000 });
  });
});
