import { type CallWithOptions, checkCall, type TableOf, XdskitError } from "@xdskit/api";
import type { Store } from "@xdskit/server";
import { EtcdClient, type EtcdOptions } from "./client/etcd-client.js";
import type { EtcdTls } from "./client/etcd-tls.js";
import { EtcdStore } from "./etcd-store.js";

/** The first format is the only one. A new number marks keys that this version would misread. */
const format = 1;

/** Where and how a store is kept in etcd. */
export interface EtcdStoreOptions extends Omit<EtcdOptions, "tls" | "newTls"> {
  /** Begins all its keys: several stores may share an etcd. */
  readonly prefix: string;
  /** A function is asked every few seconds, since certificates are replaced. Undefined: plaintext. */
  readonly tls?: EtcdTls | (() => Promise<EtcdTls>) | undefined;
}

const call = {
  call: "openEtcdStore",
  code: "XDSKIT_STORE",
  example: '{ endpoints: ["127.0.0.1:2379"], prefix: "/xds" }',
  needs: ["endpoints", "prefix"],
  table: {
    endpoints: { items: "string" },
    prefix: "string",
    tls: ["object", "function"],
    tlsProblem: "function",
    user: { options: { name: "string", password: "string" }, needs: ["name", "password"] },
    timeoutMs: "count",
    keepalive: { options: { timeMs: "count", timeoutMs: "count" }, needs: ["timeMs", "timeoutMs"] },
  } satisfies TableOf<EtcdStoreOptions>,
} as const satisfies CallWithOptions;

/**
 * Opens a store in etcd, version 3.4 or newer, and makes it where it is missing. Several processes may have it open.
 * Rejects with XDSKIT_STORE if an option is wrong, or if etcd cannot be reached, refuses the user, or holds what a
 * newer xdskit wrote.
 *
 * @example
 * ```ts
 * import { openEtcdStore } from "@xdskit/store-etcd";
 *
 * const store = await openEtcdStore({ endpoints: ["127.0.0.1:2379"], prefix: "/xds" });
 * await store.close();
 * ```
 */
export async function openEtcdStore(storeOptions: EtcdStoreOptions): Promise<Store> {
  checkCall(call, storeOptions);
  const { prefix, tls: given, ...options } = storeOptions;
  const tls = typeof given === "function" ? await given() : given;
  const client = new EtcdClient({ ...options, tls, newTls: typeof given === "function" ? given : undefined });
  try {
    const key = `${prefix}/format`;
    const operations = [{ kind: "put", key, value: `${format}` }] as const;
    await client.transaction({ compare: [{ key, value: undefined }], operations });
    const [found] = (await client.range({ key })).found;
    const number = Number(new TextDecoder().decode(found?.value));
    if (number > format)
      throw XdskitError.of("XDSKIT_STORE", `a newer xdskit wrote it, in format ${number}; this one reads ${format}`);
    return new EtcdStore(`etcd ${options.endpoints.join(",")}${prefix}`, client, prefix);
  } catch (error) {
    client.close();
    if (error instanceof XdskitError) throw error;
    throw XdskitError.of("XDSKIT_STORE", (error as Error).message, {}, { cause: error });
  }
}
