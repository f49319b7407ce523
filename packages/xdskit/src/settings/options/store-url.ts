/** Where a store is, as `--store` says. */
export type StoreUrl =
  | { readonly kind: "folder"; readonly directory: string }
  /** `prefix` begins with a slash; in etcd it begins all keys. */
  | { readonly kind: "etcd"; readonly endpoints: readonly string[]; readonly prefix: string };

const expected = "Expected lmdb:DIR, or etcd://HOST:PORT,HOST:PORT,…/PREFIX.";

/** Reads `lmdb:DIR` and `etcd://HOST:PORT,…/PREFIX`. Throws an Error that says what was expected. */
export function parseStoreUrl(text: string): StoreUrl {
  const [, directory] = /^lmdb:(.+)$/.exec(text) ?? [];
  if (directory !== undefined) return { kind: "folder", directory };
  const [, hosts = "", prefix = ""] = /^etcd:\/\/([^/@?#]+)(\/[^?#]*[^/?#])$/.exec(text) ?? [];
  const endpoints = hosts.split(",");
  if (prefix === "" || !endpoints.every((one) => /^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i.test(one)))
    throw new Error(expected);
  return { kind: "etcd", endpoints, prefix };
}
