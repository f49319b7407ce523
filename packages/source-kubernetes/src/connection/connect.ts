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

/**
 * Finds the API server, and how to prove oneself there: of a kubeconfig file, of the pod that this process runs in, or
 * where kubectl looks. Asks the server nothing yet. Rejects with XDSKIT_KUBECONFIG if there is none.
 */
export async function connectToKubernetes(options: ConnectOptions = {}): Promise<KubernetesConnection> {
  const { kubeconfig, env = process.env } = options;
  if (kubeconfig !== undefined) return await kubeconfigConnection([kubeconfig]);
  return (await inClusterConnection(env)) ?? (await kubeconfigConnection(usualKubeconfigs(env)));
}
