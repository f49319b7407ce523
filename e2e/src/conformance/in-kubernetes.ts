import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPeer, type PeerName, root } from "../harness/basics/peers.js";
import { freePort } from "../harness/basics/ports.js";
import { startProcess } from "../harness/basics/process.js";
import { KubeApiserver, type KubernetesObject } from "../harness/peers/kube-apiserver.js";
import { type Judgement, judged, serving } from "./judgement.js";

/** Where a server of an API server of Kubernetes runs. */
interface Place {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly port: string;
  /** Ports for what it also listens at. */
  readonly others: readonly string[];
}

interface InKubernetes {
  readonly name: PeerName;
  readonly about: string;
  readonly args: (place: Place) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of the suite. */
  readonly options?: readonly string[];
}

const where = "with a real kube-apiserver (`e2e/peers/install.sh kubernetes`) that has two Services; without a driver";

/** A kind of Contour's, which it wants to watch. None of them is there. */
function contourKind(kind: string, plural: string, version: string): KubernetesObject {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const versions = [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.projectcontour.io` },
    spec: { group: "projectcontour.io", scope: "Namespaced", names, versions },
  };
}

/** A Service with an endpoint, and an Ingress that leads to it. */
function service(name: string, port: number): readonly KubernetesObject[] {
  const metadata = { name, namespace: "default" };
  const backend = { service: { name, port: { number: 80 } } };
  const path = { path: "/", pathType: "Prefix", backend };
  return [
    { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ name: "http", port: 80, targetPort: port }] } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.0.1"], conditions: { ready: true } }],
      ports: [{ name: "http", port, protocol: "TCP" }],
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata,
      spec: { rules: [{ host: `${name}.example`, http: { paths: [path] } }] },
    },
  ];
}

const content: readonly KubernetesObject[] = [
  ...["istio-system", "projectcontour"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })),
  contourKind("HTTPProxy", "httpproxies", "v1"),
  contourKind("TLSCertificateDelegation", "tlscertificatedelegations", "v1"),
  contourKind("ExtensionService", "extensionservices", "v1alpha1"),
  contourKind("ContourConfiguration", "contourconfigurations", "v1alpha1"),
  contourKind("ContourDeployment", "contourdeployments", "v1alpha1"),
  ...service("one", 3_001),
  ...service("two", 3_002),
];

/** Servers that need an API server, for the reports only: each takes a quarter of an hour to build. */
export const inKubernetes = [
  judgedIn({
    name: "contour",
    about:
      `Contour 1.33.8, ${where}. \`go install github.com/projectcontour/contour/cmd/contour@v1.33.8\` into ` +
      "`.cache/peers/bin` makes it",
    args: ({ kubeconfig, port, others: [health = "", metrics = "", debug = ""] }) => [
      ...["serve", "--kubeconfig", kubeconfig, "--insecure", "--xds-address", "127.0.0.1", "--xds-port", port],
      ...["--health-address", "127.0.0.1", "--health-port", health, "--http-address", "127.0.0.1"],
      ...["--http-port", metrics, "--debug-http-port", debug, "--disable-leader-election"],
    ],
  }),
  judgedIn({
    name: "pilot-discovery",
    about:
      `Istio's discovery server, of 2026-08-27, ${where}, and with PILOT_MAX_REQUESTS_PER_SECOND=1000. \`go install istio.io/istio/pilot/cmd/pilot-discovery@` +
      "v0.0.0-20260827124520-eed52ebb66ad` into `.cache/peers/bin` makes it",
    args: ({ folder, kubeconfig, port, others: [http = "", monitoring = ""] }) => [
      ...["discovery", "--kubeconfig", kubeconfig, "--configDir", folder, "--grpcAddr", `127.0.0.1:${port}`],
      ...["--secureGRPCAddr", "", "--httpsAddr", "", "--httpAddr", `127.0.0.1:${http}`, "--ctrlz_port", "0"],
      ...["--monitoringAddr", `127.0.0.1:${monitoring}`],
    ],
    // A run asks more often than the proxies of a small machine may.
    env: {
      PILOT_MAX_REQUESTS_PER_SECOND: "1000",
      ENABLE_CA_SERVER: "false",
      INJECTION_WEBHOOK_CONFIG_NAME: "",
      VALIDATION_WEBHOOK_CONFIG_NAME: "",
    },
    // Istio knows what kind of client a node is by its id.
    options: ["--node-id", "sidecar~10.0.0.1~app.default~default.svc.cluster.local"],
  }),
];

function judgedIn({ name, about, args, env = {}, options = [] }: InKubernetes) {
  const known = `reports/known/${name}.txt`;
  return {
    name,
    about,
    known,
    async judge(): Promise<Judgement | undefined> {
      const [program, apiserver, etcd] = [findPeer(name), findPeer("kube-apiserver"), findPeer("kube-etcd")];
      if (program === undefined || apiserver === undefined || etcd === undefined) return undefined;
      const directory = mkdtempSync(join(tmpdir(), "xdskit-in-kubernetes-"));
      const ends: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
      const start = (process: Parameters<typeof startProcess>[0]) => {
        const started = startProcess(process);
        ends.push(() => started.stop());
        return started;
      };
      try {
        const scene = { directory, start, onEnd: (end: () => unknown) => void ends.push(end) };
        const kubernetes = await KubeApiserver.start(scene, { apiserver, etcd });
        await kubernetes.put(...content);
        const folder = join(directory, "empty");
        mkdirSync(folder);
        const ports = await Promise.all(Array.from({ length: 4 }, async () => String(await freePort())));
        const [port = "", ...others] = ports;
        const place = { folder, kubeconfig: kubernetes.kubeconfig("admin"), port, others };
        start({ name, command: program, args: args(place), env });
        const target = [`127.0.0.1:${port}`, ...options];
        await serving(target);
        return await judged(directory, "server", ...target, "--expected-failures", join(root, known));
      } finally {
        for (const end of ends.reverse()) await end();
      }
    },
  };
}
