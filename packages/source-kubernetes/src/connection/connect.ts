import { type CallWithOptions, checkCall, type TableOf } from "@xdskit/api";
import type { KubernetesConnection } from "./connection.js";
import { type Environment, inClusterConnection } from "./in-cluster.js";
import { kubeconfigConnection, usualKubeconfigs } from "./kubeconfig.js";

/** Where to look for an API server. */
export interface ConnectOptions {
  /** A file; undefined: the cluster that this pod runs in, else what kubectl would take. */
  readonly kubeconfig?: string | undefined;
  /** Default: that of the process. */
  readonly env?: Environment | undefined;
}

const call = {
  call: "connectToKubernetes",
  code: "XDSKIT_KUBERNETES",
  example: '{ kubeconfig: "kubeconfig" }',
  table: { kubeconfig: "string", env: "object" } satisfies TableOf<ConnectOptions>,
} as const satisfies CallWithOptions;

/**
 * Finds the API server, and how to prove oneself there: of a kubeconfig file, of the pod that this process runs in, or
 * where kubectl looks. Asks the server nothing yet. Rejects with XDSKIT_KUBECONFIG if there is none, and with
 * XDSKIT_KUBERNETES if an option is wrong.
 */
export async function connectToKubernetes(options: ConnectOptions = {}): Promise<KubernetesConnection> {
  checkCall(call, options);
  const { kubeconfig, env = process.env } = options;
  if (kubeconfig !== undefined) return await kubeconfigConnection([kubeconfig]);
  return (await inClusterConnection(env)) ?? (await kubeconfigConnection(usualKubeconfigs(env)));
}
