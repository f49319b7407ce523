import { readFile } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";

/** What the environment says of how etcd is reached: it must not be seen in the list of processes. */
interface EtcdCredentials {
  readonly tls?: { readonly ca?: string; readonly certificate?: string; readonly key?: string };
  readonly user?: { readonly name: string; readonly password: string };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the files that XDSKIT_ETCD_CA, XDSKIT_ETCD_CERT and XDSKIT_ETCD_KEY name, and `NAME:PASSWORD` in
 * XDSKIT_ETCD_USER. Rejects with XDSKIT_STORE if a file cannot be read.
 */
export async function etcdCredentials(env: Environment = process.env): Promise<EtcdCredentials> {
  const read = async (name: string) => {
    const file = env[name];
    if (file === undefined || file === "") return undefined;
    return await readFile(file, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
      throw XdskitError.of("XDSKIT_STORE", `${name} cannot be read: ${code}`, { file });
    });
  };
  const [ca, certificate, key] = [
    await read("XDSKIT_ETCD_CA"),
    await read("XDSKIT_ETCD_CERT"),
    await read("XDSKIT_ETCD_KEY"),
  ];
  const [name = "", ...password] = (env.XDSKIT_ETCD_USER ?? "").split(":");
  return {
    ...(ca === undefined && certificate === undefined
      ? {}
      : { tls: { ca, certificate, key } as EtcdCredentials["tls"] }),
    ...(name === "" ? {} : { user: { name, password: password.join(":") } }),
  };
}
