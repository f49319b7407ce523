import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { parse } from "yaml";
import { peer } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { followPage } from "./harness/pages/follow-page.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";

test("docs/kubernetes.md does what it says, block by block, with kubectl and a real API server", {
  timeout: 300_000,
}, async (t) => {
  const programs = apiserverPrograms(t);
  const [kubectl, crds] = [peer("kube-kubectl", t) ?? "", peer("kube-gateway-api", t) ?? ""];
  if (Object.values({ ...programs, kubectl, crds }).includes("")) return;
  const scene = await createScene(t);
  const api = await KubeApiserver.start(scene, programs);
  const env = { KUBECONFIG: api.kubeconfig("admin"), HOME: scene.directory };
  const apply = (args: readonly string[], input?: object) =>
    execFileSync(kubectl, ["apply", ...args], {
      env: { ...process.env, ...env },
      encoding: "utf8",
      timeout: 60_000,
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
    });
  // What the page takes for there: a Service with a pod, and the CRDs of the Gateway API.
  const service = (name: string): KubernetesObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "shop" },
    spec: { ports: [{ name: "grpc", port: 8080 }] },
  });
  await api.put(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    service("cart"),
    service("cart-next"),
  );
  await api.put({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    addressType: "IPv4",
    metadata: { name: "cart-1", namespace: "shop", labels: { "kubernetes.io/service-name": "cart" } },
    endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: true } }],
    ports: [{ name: "grpc", port: 8080, protocol: "TCP" }],
  });
  apply(["--server-side", "-f", crds]);

  const applied: string[] = [];
  await followPage(
    scene,
    "kubernetes",
    ({ language, text }) => {
      assert.equal(language, "yaml");
      const object = parse(text);
      // The rest are settings.
      if (object.identities !== undefined) return;
      applied.push(apply(["-f", "-"], object.kind === undefined ? podWith(object) : object).trim());
    },
    {
      env,
      // Of the Service.
      others: ["8080"],
      programs: {
        // No kubelet runs pods here.
        kubectl: `[ "$1" = exec ] || exec "${kubectl}" "$@"`,
        docker: "exit 0",
      },
    },
  );
  assert.deepEqual(applied, [
    "pod/shop created",
    "pod/shop-env created",
    "grpcroute.gateway.networking.k8s.io/cart created",
    "configmap/edge created",
    "pod/web created",
  ]);
  for (const name of ["routes", "secrets", "configmaps", "tokenreviews"])
    assert.match(apply(["-f", `deploy/kubernetes/${name}.yaml`]), /created|unchanged/);
});

interface PodParts {
  readonly containers?: readonly { readonly name: string }[];
  readonly env?: readonly object[];
  readonly volumes?: readonly object[];
}

/** A pod with the parts that a block of the page has. */
function podWith({ containers = [], env, volumes }: PodParts): object {
  const [{ name } = { name: "shop-env" }] = containers;
  const all = containers.length > 0 ? containers : [{ name, env }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop" },
    // Where a controller makes the account `default`, each pod has that.
    spec: { serviceAccountName: "default", containers: all.map((each) => ({ image: "shop", ...each })), volumes },
  };
}
