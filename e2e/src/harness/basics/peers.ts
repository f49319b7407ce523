import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

/** The root of the checkout. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");

/** The Envoys, the newest first. */
export const envoys = ["envoy", "envoy-1.39", "envoy-1.38", "envoy-1.37", "envoy-1.36"] as const;

/** The programs that `e2e/peers/install.sh` puts into `.cache/peers/bin`. */
export type PeerName =
  | (typeof envoys)[number]
  | `node-${22 | 24 | 26}`
  | "python-grpc"
  | "go-grpc-client"
  | "go-grpc-server"
  | "go-grpc-csds"
  | "go-grpc-v2-client"
  | "go-control-plane-server"
  | "envoy-gateway"
  | "contour"
  | "pilot-discovery"
  | "java-control-plane"
  | "java-grpc-client"
  | "java-grpc-csds"
  | "rust-grpc-client"
  | "h2spec"
  | "etcd"
  | "etcdctl"
  | "kube-apiserver"
  | "kube-etcd"
  | "kube-kubectl"
  | "kube-gateway-api"
  | "kube-route-judge"
  | "kube-load"
  | "kube-go-control-plane"
  | "spire-server"
  | "spire-agent"
  | "promtool"
  | "hadolint"
  | "bwrap"
  | "systemd-analyze"
  | "systemd-notify"
  | "helm"
  | "kubeconform"
  | "servicemonitor"
  | "kubernetes-schemas"
  | "compose-config"
  | "chromium"
  | "zsh"
  | "fish";

/**
 * The path of a peer: from `.cache/peers/bin`, or from PATH, or from where the quickstart puts its Envoy. Where it is
 * missing the test is skipped with a message (undefined is returned), and fails instead when CI is set.
 */
export function peer(name: PeerName, t: TestContext): string | undefined {
  return findPeer(name) ?? missing(`${name} is not installed`, t, installedApart[name.replace(/-.*/, "")] ?? "");
}

/** What `install.sh` builds only if it is asked to, by the beginning of the programs' names. */
const installedApart: Readonly<Record<string, string>> = { kube: " kubernetes", spire: " spire" };

/** Python with a module that was not always among the peers. */
export function pythonWith(module: string, t: TestContext): string | undefined {
  const python = peer("python-grpc", t);
  if (python === undefined || spawnSync(python, ["-c", `import ${module}`]).status === 0) return python;
  return missing(`Python's ${module} is not installed`, t);
}

function missing(what: string, t: TestContext, which = ""): undefined {
  const message = `${what}: run e2e/peers/install.sh${which}`;
  if (isCi()) throw new Error(message);
  console.error(`\n*** SKIPPED, NOT TESTED: ${t.name}: ${message} ***\n`);
  t.skip(message);
  return undefined;
}

const isCi = (): boolean => !["", "0", "false", undefined].includes(process.env.CI);

/** The path of a peer, wherever it is; undefined where it is missing. */
export function findPeer(name: PeerName): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter);
  const folders = [join(root, ".cache/peers/bin"), ...path, join(root, ".cache/venv/bin")];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
