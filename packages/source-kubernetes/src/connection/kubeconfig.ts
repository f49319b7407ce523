import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { listNames, maxSmallBody, XdskitError } from "@xdskit/api";
import { hostOf, isLoopback } from "@xdskit/server/address";
import { parse } from "yaml";
import type { Credentials, KubernetesConnection } from "./connection.js";
import { credentialFile } from "./credential-file.js";
import { type ExecSettings, execCredentials } from "./exec-credentials.js";
import type { Environment } from "./in-cluster.js";

/** The keys of a kubeconfig that are read, in its own spelling. */
interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly NamedEntry<"context", ContextEntry>[] | null;
  readonly clusters?: readonly NamedEntry<"cluster", ClusterEntry>[] | null;
  readonly users?: readonly NamedEntry<"user", UserEntry>[] | null;
}

type NamedEntry<Key extends string, Entry> = { readonly name: string } & { readonly [K in Key]?: Entry };

interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

interface ClusterEntry {
  readonly server?: string;
  readonly "certificate-authority"?: string;
  readonly "certificate-authority-data"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "tls-server-name"?: string;
  readonly "proxy-url"?: string;
}

interface UserEntry {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly "client-certificate"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key"?: string;
  readonly "client-key-data"?: string;
  readonly exec?: ExecSettings;
  readonly "auth-provider"?: unknown;
  readonly username?: string;
}

/** An entry of a kubeconfig, and the file that it is in. */
interface FoundEntry<Entry> {
  readonly entry: Entry;
  readonly file: string;
}

/** Where kubectl would look for its configuration. */
export function usualKubeconfigs({ KUBECONFIG }: Environment): readonly string[] {
  const named = KUBECONFIG?.split(delimiter).filter((file) => file !== "") ?? [];
  return named.length > 0 ? named : [join(homedir(), ".kube", "config")];
}

/**
 * The API server of the current context of kubeconfig files: where several have an entry of one name, the first counts,
 * and files may be missing, but not all, as for kubectl. Rejects with XDSKIT_KUBECONFIG.
 */
export async function kubeconfigConnection(files: readonly string[]): Promise<KubernetesConnection> {
  const read = (await Promise.all(files.map(readKubeconfig))).filter((each) => each !== undefined);
  const wrong = (message: string, file = read[0]?.file) => XdskitError.of("XDSKIT_KUBECONFIG", message, { file });
  if (read.length === 0) throw wrong("the kubeconfig cannot be read: there is no such file", files.join(delimiter));
  const current = read.map(({ config }) => config["current-context"]).find((name) => name !== undefined && name !== "");
  if (current === undefined) throw wrong("it names no current-context");
  const find = <Entry>(
    what: string,
    name: string | undefined,
    of: (config: Kubeconfig) => readonly (readonly [string, Entry | undefined])[],
  ): FoundEntry<Entry> => {
    for (const { file, config } of read) {
      const entry = of(config).find(([each]) => each === name)?.[1];
      if (entry !== undefined) return { entry, file };
    }
    const there = read.flatMap(({ config }) => of(config).map(([each]) => each));
    throw wrong(`there is no ${what} ${JSON.stringify(name)}; there are: ${listNames(there) || "none"}`);
  };
  const context = find("context", current, ({ contexts }) => (contexts ?? []).map((one) => [one.name, one.context]));
  const cluster = find("cluster", context.entry.cluster, ({ clusters }) =>
    (clusters ?? []).map((one) => [one.name, one.cluster]),
  );
  const user = find("user", context.entry.user, ({ users }) => (users ?? []).map((one) => [one.name, one.user]));
  return connectionOf(cluster, user, context.entry.namespace);
}

/** Undefined: there is no such file. */
async function readKubeconfig(
  file: string,
): Promise<{ readonly file: string; readonly config: Kubeconfig } | undefined> {
  const wrong = (reason: string, cause?: unknown) =>
    XdskitError.of("XDSKIT_KUBECONFIG", `the kubeconfig cannot be read: ${reason}`, { file }, { cause });
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw wrong(error.code ?? error.message, error);
  });
  if (text === undefined) return undefined;
  if (text.length > maxSmallBody) throw wrong(`it has more than ${maxSmallBody} bytes`);
  let config: unknown;
  try {
    config = parse(text, { maxAliasCount: 0, logLevel: "error" });
  } catch (error) {
    // Only the place: the message may hold a token.
    const [{ line }] = (error as { linePos?: [{ line: number }] }).linePos ?? [{ line: 1 }];
    throw XdskitError.of("XDSKIT_KUBECONFIG", "it is not well-formed YAML", { file, line });
  }
  if (typeof config !== "object" || config === null) throw wrong("it is no kubeconfig");
  return { file, config: config as Kubeconfig };
}

function connectionOf(
  { entry: cluster, file }: FoundEntry<ClusterEntry>,
  user: FoundEntry<UserEntry>,
  namespace: string | undefined,
): KubernetesConnection {
  const wrong = (message: string, at = file) => XdskitError.of("XDSKIT_KUBECONFIG", message, { file: at });
  if (!URL.canParse(cluster.server ?? "")) throw wrong("the cluster has no server with a URL");
  if (cluster["proxy-url"] !== undefined)
    throw wrong("proxy-url is not supported: name a server that is reached directly");
  for (const key of ["auth-provider", "username"] as const) {
    if (user.entry[key] === undefined) continue;
    throw wrong(`${key} is not supported: Kubernetes has removed it. Use exec, a token or a certificate`, user.file);
  }
  const server = new URL(cluster.server ?? "");
  if (server.protocol === "http:" && !isLoopback(hostOf(server)) && provesSomething(user.entry))
    throw wrong(`the user's credentials would go to ${server.origin} in plaintext: name a server with https://`);
  const exec = user.entry.exec && execCredentials(user.entry.exec, dirname(user.file));
  return {
    server,
    namespace,
    isChecked: cluster["insecure-skip-tls-verify"] !== true,
    serverName: cluster["tls-server-name"],
    from: file,
    async credentials(signal) {
      const [ca, own, made] = await Promise.all([
        inline(file, cluster["certificate-authority"], cluster["certificate-authority-data"]),
        ownCredentials(user),
        exec?.get(signal),
      ]);
      return { ...own, ...made, ca };
    },
    refused: () => exec?.forget(),
  };
}

/** Whether the user has a secret, or a certificate, which needs TLS. */
function provesSomething(user: UserEntry): boolean {
  const keys = ["token", "tokenFile", "client-certificate", "client-certificate-data", "exec"] as const;
  return keys.some((key) => Boolean(user[key]));
}

/** Files are read each time: they are replaced. */
async function ownCredentials({ entry, file }: FoundEntry<UserEntry>): Promise<Omit<Credentials, "ca">> {
  const [token, cert, key] = await Promise.all([
    ownToken(entry, file),
    inline(file, entry["client-certificate"], entry["client-certificate-data"]),
    inline(file, entry["client-key"], entry["client-key-data"]),
  ]);
  return { token: token?.trim(), cert, key };
}

/** The file is replaced, so it is newer than a token beside it. That one is for a file that cannot be read. */
async function ownToken({ token, tokenFile }: UserEntry, file: string): Promise<string | undefined> {
  if (!tokenFile) return token;
  return await inline(file, tokenFile, undefined).catch((error: unknown) => {
    if (!token) throw error;
    return token;
  });
}

/** What is in the kubeconfig itself, in base64, or in a file beside it. */
async function inline(
  kubeconfig: string,
  path: string | undefined,
  data: string | undefined,
): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  if (path === undefined) return undefined;
  return await credentialFile(resolve(dirname(kubeconfig), path));
}
