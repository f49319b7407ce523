import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createAuthority } from "../../../../packages/api/src/testing/certificates.js";
import { peer } from "../basics/peers.js";
import { freePort } from "../basics/ports.js";
import type { Process } from "../basics/process.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { EtcdCluster } from "./etcd.js";

/** An object of Kubernetes, as it is written. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: object;
    readonly annotations?: object;
  };
  readonly [key: string]: unknown;
}

/** Who signs the certificates of users. */
const ofClients = createAuthority("of clients");

/** The users that the server knows, by token. */
const users = { admin: 'admin-token,admin,1,"system:masters"', xdskit: "xdskit-token,xdskit,2" } as const;
type User = keyof typeof users;

/** What it needs of a scene. */
type Place = Pick<Scene, "directory" | "start" | "onEnd">;

/** A real kube-apiserver over an etcd of its own, without controllers: a test writes what these would. */
export class KubeApiserver {
  readonly url: string;
  readonly directory: string;
  readonly #scene: Place;
  readonly #program: string;
  readonly #port: number;
  readonly #etcd: EtcdCluster;
  #process: Process | undefined;

  private constructor(scene: Place, programs: Programs, port: number, etcd: EtcdCluster, directory: string) {
    this.#scene = scene;
    this.#program = programs.apiserver;
    this.#port = port;
    this.#etcd = etcd;
    this.url = `https://127.0.0.1:${port}`;
    this.directory = directory;
  }

  static async start(scene: Place, programs: Programs): Promise<KubeApiserver> {
    const directory = join(scene.directory, "kubernetes");
    await mkdir(directory);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    await writeFile(join(directory, "service-accounts.pem"), pem);
    await writeFile(join(directory, "tokens.csv"), `${Object.values(users).join("\n")}\n`);
    await writeFile(join(directory, "clients.pem"), ofClients.certificate);
    const etcd = await EtcdCluster.start(programs.etcd, { size: 1 });
    scene.onEnd(() => etcd.stop());
    const server = new KubeApiserver(scene, programs, await freePort(), etcd, directory);
    await server.start();
    return server;
  }

  get etcdEndpoint(): string {
    return this.#etcd.endpoints[0] ?? assert.fail("there is no etcd");
  }

  /** Starts it, again with what etcd has. */
  async start(): Promise<void> {
    const file = (name: string) => join(this.directory, name);
    this.#process = this.#scene.start({
      name: "kube-apiserver",
      command: this.#program,
      args: [
        ...["--etcd-servers", `http://${this.etcdEndpoint}`, "--cert-dir", file("certificates")],
        ...["--bind-address", "127.0.0.1", "--secure-port", `${this.#port}`, "--endpoint-reconciler-type", "none"],
        ...["--service-cluster-ip-range", "10.96.0.0/16,fd00:96::/112", "--authorization-mode", "RBAC"],
        // Nobody listens there.
        ...["--advertise-address", "10.0.0.254", "--token-auth-file", file("tokens.csv")],
        ...["--client-ca-file", file("clients.pem")],
        ...["--service-account-issuer", "https://kubernetes.default.svc"],
        ...["--service-account-key-file", file("service-accounts.pem")],
        ...["--service-account-signing-key-file", file("service-accounts.pem")],
        // There is no controller that makes them.
        ...["--disable-admission-plugins", "ServiceAccount"],
      ],
    });
    await eventually("an API server that is ready", async () => (await this.ask("GET", "/readyz")).status === 200, {
      withinMs: 90_000,
      everyMs: 250,
    });
  }

  /** Ends it as a power cut does. */
  async kill(): Promise<void> {
    await this.#process?.stop("SIGKILL");
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.#process?.pid ?? assert.fail("it does not run"), signal);
  }

  /** Writes a kubeconfig of a user, with a token or a certificate, and returns its path. */
  kubeconfig(user: User, by: "token" | "certificate" = "token"): string {
    const file = join(this.directory, `${user}-${by}.yaml`);
    const [token] = users[user].split(",");
    const { certificate, key } = ofClients.issue(user);
    const issued = {
      "client-certificate-data": Buffer.from(certificate).toString("base64"),
      "client-key-data": Buffer.from(key).toString("base64"),
    };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      clusters: [
        { name: "test", cluster: { server: this.url, "certificate-authority": "certificates/apiserver.crt" } },
      ],
      contexts: [{ name: "test", context: { cluster: "test", user } }],
      users: [{ name: user, user: by === "token" ? { token } : issued }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  /** Makes objects be as they are written, in turn. */
  async put(...objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) {
      const path = `${pathOf(object)}?fieldManager=test&force=true`;
      const { status, body } = await this.ask("PATCH", path, object);
      assert.ok(status === 200 || status === 201, `${object.kind} ${object.metadata.name}: ${status} ${body}`);
    }
  }

  /** An object as it is now. */
  async get<Read extends KubernetesObject>(object: KubernetesObject): Promise<Read> {
    const { status, body } = await this.ask("GET", pathOf(object));
    assert.equal(status, 200, body);
    return JSON.parse(body);
  }

  /** Writes the status of an object, as it was read. */
  async putStatus(object: KubernetesObject): Promise<void> {
    const { status, body } = await this.ask("PUT", `${pathOf(object)}/status`, object);
    assert.equal(status, 200, body);
  }

  async remove(object: KubernetesObject): Promise<void> {
    const { status, body } = await this.ask("DELETE", pathOf(object));
    assert.equal(status, 200, body);
  }

  /** A token of a service account, as Kubernetes projects it into a pod. */
  async token(namespace: string, account: string, audience: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const wanted = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [audience] } };
    const { status, body } = await this.ask("POST", path, wanted);
    assert.equal(status, 201, body);
    return JSON.parse(body).status.token;
  }

  /** Who proves the server, as PEM. */
  get authority(): string {
    return readFileSync(join(this.directory, "certificates/apiserver.crt"), "utf8");
  }

  /** Asks as the administrator. */
  ask(method: string, path: string, object?: object): Promise<{ readonly status: number; readonly body: string }> {
    const [token] = users.admin.split(",");
    const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    const ca = this.authority;
    return new Promise((resolve, reject) => {
      const asked = request(`${this.url}${path}`, { method, headers, ca, agent: this.#agent }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.setTimeout(20_000, () => asked.destroy(new Error("no answer")));
      asked.end(object === undefined ? undefined : JSON.stringify(object));
    });
  }

  readonly #agent = new Agent({ keepAlive: true });
}

export interface Programs {
  readonly apiserver: string;
  readonly etcd: string;
}

/** An empty path: it is missing, and the test is skipped. */
export function apiserverPrograms(t: TestContext): Programs {
  return { apiserver: peer("kube-apiserver", t) ?? "", etcd: peer("kube-etcd", t) ?? "" };
}

/** Where objects of these kinds are. */
const collections: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  Service: "/api/v1/namespaces/NS/services",
  ConfigMap: "/api/v1/namespaces/NS/configmaps",
  Secret: "/api/v1/namespaces/NS/secrets",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings",
  ServiceAccount: "/api/v1/namespaces/NS/serviceaccounts",
  EndpointSlice: "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  CustomResourceDefinition: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  GRPCRoute: "/apis/gateway.networking.k8s.io/v1/namespaces/NS/grpcroutes",
  HTTPRoute: "/apis/gateway.networking.k8s.io/v1/namespaces/NS/httproutes",
  Ingress: "/apis/networking.k8s.io/v1/namespaces/NS/ingresses",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
};

function pathOf({ kind, metadata: { name, namespace = "" } }: KubernetesObject): string {
  const collection = collections[kind] ?? assert.fail(`where are objects of the kind ${kind}?`);
  return `${collection.replace("NS", namespace)}/${encodeURIComponent(name)}`;
}
