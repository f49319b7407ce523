import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { peer, root } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { xdskitCommand } from "./harness/xdskit/xdskit.js";

const chart = join(root, "deploy/helm/xdskit");
const ci = (name: string) => join(chart, "ci", `${name}-values.yaml`);
const names = readdirSync(join(chart, "ci")).map((file) => file.replace(/-values\.yaml$/, ""));
// Of the schemas that the manifests are judged by.
const version = ["--kube-version", "1.37.0"];

function run(command: string, args: readonly string[], input = ""): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: "utf8", input, timeout: 60_000 });
}

function rendered(helm: string, name: string, ...more: readonly string[]): string {
  const args = ["template", "xdskit", chart, "--namespace", "mesh", ...version, "--values", ci(name), ...more];
  const { status, stdout, stderr } = run(helm, args);
  assert.equal(status, 0, stderr);
  return stdout;
}

/** The findings of kubeconform; undefined: it is not installed. */
function judged(manifests: string, t: TestContext): string | undefined {
  const [kubeconform, schemas] = [peer("kubeconform", t), peer("kubernetes-schemas", t)];
  if (kubeconform === undefined || schemas === undefined) return undefined;
  // Of Prometheus' operator, whose types judge it below.
  const own = ["-strict", "-skip", "ServiceMonitor"];
  const place = join(schemas, "{{.ResourceKind}}{{.KindSuffix}}.json");
  return run(kubeconform, [...own, "-schema-location", place], manifests).stdout;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: kubeconform judges its shape.
  readonly spec: any;
}

const manifestsOf = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** `VERBS RESOURCES` of each rule of the roles. */
function rightsOf(all: readonly Manifest[]): readonly string[] {
  const roles = all.filter(({ kind }) => /Role$/.test(kind)) as unknown as readonly {
    readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  }[];
  return roles.flatMap(({ rules }) => rules.map(({ resources, verbs }) => `${verbs} ${resources}`));
}

const rightsForRoutes = [
  "list,watch grpcroutes,httproutes,referencegrants",
  "patch grpcroutes/status,httproutes/status",
];
const rightsForServices = ["list,watch services", "list,watch endpointslices", "create,patch events"];

/** What runs the pods. */
// biome-ignore lint/suspicious/noExplicitAny: kubeconform judges its shape.
function workloadOf(all: readonly Manifest[]): any {
  const found = all.find(({ kind }) => kind === "StatefulSet" || kind === "Deployment");
  return found?.spec ?? assert.fail("nothing runs pods");
}

// biome-ignore lint/suspicious/noExplicitAny: kubeconform judges its shape.
function podOf(all: readonly Manifest[]): any {
  return workloadOf(all).template.spec;
}

test("the chart gives manifests that Kubernetes takes, for each of its values files", (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  assert.ok(names.length >= 3);
  for (const name of names) {
    const { status, stdout } = run(helm, ["lint", "--strict", chart, ...version, "--values", ci(name)]);
    assert.equal(status, 0, stdout);
    const text = rendered(helm, name);
    const findings = judged(text, t);
    if (findings === undefined) return;
    assert.equal(findings, "", name);
  }
  const wrong = judged(rendered(helm, "small").replace("runAsNonRoot", "runAsNobody"), t);
  assert.match(wrong ?? "", /StatefulSet.*is invalid/);
});

test("the chart's ServiceMonitor is one by the types of Prometheus' operator", (t) => {
  const [helm, judge] = [peer("helm", t), peer("servicemonitor", t)];
  if (helm === undefined || judge === undefined) return;
  const text = rendered(helm, "replicas");
  const { status, stdout, stderr } = run(judge, [], text);
  assert.deepEqual([status, stdout], [0, "1\n"], stderr);
  assert.match(run(judge, [], text.replace("serverName:", "servrName:")).stderr, /unknown field "servrName"/);
});

test("the chart gives a pod that serves the cluster the least rights, and these in its namespaces alone", (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  const all = manifestsOf(rendered(helm, "kubernetes"));
  assert.deepEqual(rightsOf(all), [
    ...rightsForServices,
    ...rightsForRoutes,
    "list,watch configmaps",
    "list,watch secrets",
    "create tokenreviews",
  ]);
  const bindings = all.filter(({ kind }) => /Binding$/.test(kind));
  assert.deepEqual(
    bindings.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`),
    ["ClusterRoleBinding undefined", "RoleBinding shop", "RoleBinding bank"],
  );
  const [{ args, volumeMounts }] = podOf(all).containers;
  assert.deepEqual(args.slice(0, 8), [
    ...["serve", "--kubernetes", "--write-events", "--namespace=shop", "--namespace=bank"],
    ...["--gateway-api", "--config-maps=xdskit.github.io/config=true", "--tls-secrets=serve=true"],
  ]);
  assert.ok(!volumeMounts.some(({ name }: { readonly name: string }) => name === "config"));
  // The settings come last, so that no key takes their place.
  const { projected } = podOf(all).volumes.find(({ name }: { readonly name: string }) => name === "settings");
  assert.deepEqual(projected.sources, [
    { secret: { name: "xdskit-keys" } },
    { configMap: { name: "xdskit-settings" } },
  ]);
  assert.match(
    all.find(({ metadata }) => metadata.name === "xdskit-settings")?.data?.["xdskit.yaml"] ?? "",
    /jwks: keys\.json/,
  );
  const everywhere = ["--set", "kubernetes.enabled=true", "--set", "insecure=true"];
  const { stdout } = run(helm, ["template", "xdskit", chart, ...version, ...everywhere]);
  assert.match(stdout, /kind: ClusterRoleBinding/);
  assert.deepEqual(rightsOf(manifestsOf(stdout)), rightsForServices);
});

test("a pod of the chart has no rights unless it serves the cluster, and writes only where it must", (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  for (const name of names) {
    const pod = podOf(manifestsOf(rendered(helm, name)));
    const { containers, volumes, automountServiceAccountToken } = pod;
    assert.equal(automountServiceAccountToken, name === "kubernetes");
    mustBeConfined(pod);
    for (const { volumeMounts, livenessProbe, readinessProbe } of containers) {
      const isWritten = ({ readOnly }: { readonly readOnly?: boolean }) => readOnly !== true;
      assert.deepEqual(
        volumeMounts.filter(isWritten).map(({ mountPath }: { readonly mountPath: string }) => mountPath),
        ["/var/lib/xdskit", "/run/xdskit", "/tmp"],
      );
      assert.ok(livenessProbe && readinessProbe);
    }
    assert.ok(volumes.length > 0);
  }
});

/** It is not root, and can write nowhere in its own image. */
// biome-ignore lint/suspicious/noExplicitAny: kubeconform judges its shape.
function mustBeConfined({ securityContext: ofPod, containers }: any): void {
  assert.deepEqual([ofPod.runAsNonRoot, ofPod.seccompProfile], [true, { type: "RuntimeDefault" }]);
  for (const { securityContext } of containers)
    assert.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
}

/** What keeps several pods up, apart and closed, whichever way they are deployed. */
function mustBeKept(all: readonly Manifest[], name: string): void {
  const workload = workloadOf(all);
  const { labels } = workload.template.metadata;
  const of = (wanted: string) => all.filter(({ kind }) => kind === wanted).map(({ spec }) => spec);
  const isOfPods = ({ matchLabels }: { readonly matchLabels: Readonly<Record<string, string>> }) =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  const budgets = of("PodDisruptionBudget").map(({ maxUnavailable, selector }) => [maxUnavailable, isOfPods(selector)]);
  assert.deepEqual(budgets, workload.replicas > 1 ? [[1, true]] : [], name);
  // Where a mesh protects the port, its policies do.
  const isClosed = of("NetworkPolicy").some(({ podSelector }) => isOfPods(podSelector));
  assert.equal(isClosed, name !== "insecure", name);
  const spread = workload.template.spec.topologySpreadConstraints ?? [];
  assert.deepEqual(
    spread.map(({ topologyKey }: { readonly topologyKey: string }) => topologyKey),
    ["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
    name,
  );
}

test("several pods are never all away, stand apart, and are closed to others", (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  for (const name of names) mustBeKept(manifestsOf(rendered(helm, name)), name);
  const services = manifestsOf(readFileSync(join(root, "deploy/kubernetes/services.yaml"), "utf8"));
  mustBeKept(services, "services.yaml");
  mustBeConfined(podOf(services));
});

test("what would not start, or would be open, is refused with what is missing", (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  const refused = (says: RegExp, ...set: readonly string[]) => {
    const args = ["template", "xdskit", chart, ...version, ...set.flatMap((one) => ["--set", one])];
    const { status, stderr } = run(helm, args);
    assert.equal(status, 1, set.join());
    assert.match(stderr, says);
  };
  refused(/tls\.secret is missing/, "configMap=mesh");
  refused(/config or configMap is missing/, "insecure=true");
  const secrets = ["insecure=true", "kubernetes.enabled=true", "kubernetes.tlsSecrets=serve"];
  refused(/tlsSecrets: name kubernetes\.namespaces/, ...secrets);
  refused(/replicas: more than one need a store/, "configMap=mesh", "insecure=true", "replicas=2");
  const spread = ["configMap=mesh", "tls.secret=a", "store=etcd://etcd:2379/mesh"];
  refused(/pods know each other by certificates/, ...spread, "tls.clientCa=true");
  refused(/pods know each other by certificates/, ...spread, "settings.replicas.dns=xdskit");
  refused(/admin listener needs roles/, "configMap=mesh", "insecure=true", "admin.secret=admin");
  refused(/serviceMonitor: it needs admin\.secret/, "configMap=mesh", "insecure=true", "serviceMonitor.enabled=true");
  const [roles, ca] = ["settings.roles[0].may[0]=read", "settings.admin_tls.client_ca=ops.pem"];
  refused(
    /the probes of Kubernetes.* have no certificate/,
    "configMap=mesh",
    "insecure=true",
    "admin.secret=a",
    roles,
    ca,
  );
  refused(
    /settings\.tls\.sds: the certificates come from/,
    "configMap=mesh",
    "tls.secret=a",
    "settings.tls.sds=unix:/a",
  );
  const jwks = "settings.identities[0].when.jwt.jwks";
  refused(/keys is missing: a secret with the key own\.json/, "configMap=mesh", "insecure=true", `${jwks}=own.json`);
  const { status, stderr } = run(helm, [
    "template",
    "xdskit",
    chart,
    ...version,
    "--set",
    `insecure=true,configMap=mesh,${jwks}=/own.json`,
  ]);
  assert.equal(status, 0, stderr);
  refused(/additional properties 'replica' not allowed/, "configMap=mesh", "insecure=true", "replica=2");
});

test("the arguments, the settings, the files and the probes of a pod are such that it starts and is ready", async (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  const all = manifestsOf(rendered(helm, "small"));
  const scene = await createScene(t);
  const at = (name: string) => join(scene.directory, name);
  const folders = { "/config": at("config"), "/settings": at("settings"), "/tls": at("tls"), "/run/xdskit": at("run") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  const placed = (text: string) =>
    text
      .replace(
        /(?<!\w)\/(?:config|settings|tls|run\/xdskit)(?=\/|$)/gm,
        (path) => folders[path as keyof typeof folders],
      )
      .replace("0.0.0.0:18000", "0.0.0.0:0");
  for (const { kind, metadata, data = {} } of all) {
    if (kind !== "ConfigMap") continue;
    // As Kubernetes lays a ConfigMap out, whose edit swaps one link.
    const folder = at(metadata.name.replace("xdskit-", ""));
    mkdirSync(join(folder, "..now"));
    symlinkSync("..now", join(folder, "..data"));
    for (const [file, text] of Object.entries(data)) {
      writeFileSync(join(folder, "..now", file), placed(text));
      symlinkSync(`..data/${file}`, join(folder, file));
    }
  }
  const { certificate, key } = createAuthority("test").issue("xdskit.mesh.svc");
  writeFileSync(join(folders["/tls"], "tls.crt"), certificate);
  writeFileSync(join(folders["/tls"], "tls.key"), key);

  const [container] = podOf(all).containers;
  const { command, args } = xdskitCommand();
  const words = container.args.map(placed);
  const env = { STATE_DIRECTORY: at("state"), XDSKIT_SERVER: `unix:${at("run")}/admin.sock` };
  const server = scene.start({ name: "xdskit", command, args: [...args, ...words], env });
  await server.line(/^ready$/);
  assert.match(server.stderr.join("\n"), /"changed":\["cluster web"\]/);
  for (const probe of [container.livenessProbe, container.readinessProbe]) {
    const [, ...health] = probe.exec.command as readonly string[];
    const asked = await runXdskit(scene, ...health, "--server", env.XDSKIT_SERVER);
    assert.equal(asked.status, 0, asked.err);
  }
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test("the manifests for a cluster's own Services are ones that Kubernetes takes, with the least rights", (t) => {
  const text = readFileSync(join(root, "deploy/kubernetes/services.yaml"), "utf8");
  const findings = judged(text, t);
  if (findings === undefined) return;
  assert.equal(findings, "");
  for (const right of ["list,watch secrets", "list,watch configmaps", "create tokenreviews"]) {
    const rights = readFileSync(join(root, "deploy/kubernetes", `${right.split(" ")[1]}.yaml`), "utf8");
    assert.equal(judged(rights, t), "");
    assert.deepEqual(rightsOf(manifestsOf(rights)), [right]);
  }
  const routes = readFileSync(join(root, "deploy/kubernetes/routes.yaml"), "utf8");
  assert.equal(judged(routes, t), "");
  assert.deepEqual(rightsOf(manifestsOf(routes)), rightsForRoutes);
  assert.deepEqual(rightsOf(manifestsOf(text)), rightsForServices);
});

test("deploy/kubernetes has what the chart gives, for those without helm", (t) => {
  const helm = peer("helm", t);
  if (helm === undefined) return;
  const folder = join(root, "deploy/kubernetes");
  const file = join(folder, "xdskit.yaml");
  const args = ["template", "xdskit", chart, ...version, "--values", join(folder, "values.yaml")];
  const { stdout } = run(helm, args);
  if (process.env.UPDATE_MANIFESTS === "1") writeFileSync(file, stdout);
  assert.equal(readFileSync(file, "utf8"), stdout, "UPDATE_MANIFESTS=1 writes it again");
});
