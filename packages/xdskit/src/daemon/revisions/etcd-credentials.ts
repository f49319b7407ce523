import { readFile } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";

/** How etcd is reached. It comes from the environment, because it must not be seen in the list of processes. */
interface EtcdCredentials {
  /** Reads the files as they are now. Rejects with XDSKIT_STORE if one cannot be read. Undefined: there are none. */
  readonly tls?: () => ReturnType<typeof readFiles>;
  readonly user?: { readonly name: string; readonly password: string };
}

type EtcdEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * What XDSKIT_ETCD_CA, XDSKIT_ETCD_CERT and XDSKIT_ETCD_KEY name, which are PEM files, and `NAME:PASSWORD` in
 * XDSKIT_ETCD_USER.
 */
export function etcdCredentials(env: EtcdEnvironment = process.env): EtcdCredentials {
  const isNamed = (name: string) => env[name] !== undefined && env[name] !== "";
  const hasFiles = isNamed("XDSKIT_ETCD_CA") || isNamed("XDSKIT_ETCD_CERT");
  const [name = "", ...password] = (env.XDSKIT_ETCD_USER ?? "").split(":");
  return {
    ...(hasFiles ? { tls: () => readFiles(env) } : {}),
    ...(name === "" ? {} : { user: { name, password: password.join(":") } }),
  };
}

async function readFiles(env: EtcdEnvironment) {
  const read = async (name: string) => {
    const file = env[name];
    if (file === undefined || file === "") return undefined;
    return await readFile(file, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
      throw XdskitError.of("XDSKIT_STORE", `${name} cannot be read: ${code}`, { file });
    });
  };
  const [ca, certificate, key] = await Promise.all(["XDSKIT_ETCD_CA", "XDSKIT_ETCD_CERT", "XDSKIT_ETCD_KEY"].map(read));
  return { ca, certificate, key };
}
