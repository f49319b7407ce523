import { join } from "node:path";
import { formatAddress } from "@xdskit/server/address";
import type { KubernetesConnection } from "./connection.js";
import { credentialFile } from "./credential-file.js";

/** Where Kubernetes puts what a pod proves itself with. */
const usualFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The environment of a pod. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The API server of the cluster that this pod runs in; undefined: it runs in none. */
export async function inClusterConnection(
  env: Environment,
  folder = usualFolder,
): Promise<KubernetesConnection | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (host === undefined || host === "") return undefined;
  const read = (name: string) => credentialFile(join(folder, name));
  const namespace = await read("namespace").catch(() => undefined);
  return {
    server: new URL(`https://${formatAddress({ host, port: Number(port) })}`),
    namespace: namespace?.trim(),
    isChecked: true,
    serverName: undefined,
    from: "the pod's service account",
    // Kubernetes replaces the token before it ends.
    async credentials() {
      const [token, ca] = await Promise.all([read("token"), read("ca.crt")]);
      return { token: token.trim(), ca, cert: undefined, key: undefined };
    },
    refused() {},
  };
}
