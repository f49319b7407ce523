import { hash } from "node:crypto";
import { join } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import { CopiedStore, copiedRollouts, type Store, StoreCopy } from "@xdskit/server";
import type { StoreUrl } from "../../settings/options/store-url.js";
import { etcdCredentials } from "./etcd-credentials.js";
import { stateHome } from "./state-home.js";

/** A store in etcd. */
export type EtcdUrl = Extract<StoreUrl, { kind: "etcd" }>;

/** A store that was reached, or its copy. */
export interface EtcdState {
  readonly store: Store;
  readonly findings: readonly Finding[];
}

/**
 * Opens a store in etcd, or, while etcd is away, the copy of it that a server of this machine kept. Rejects with
 * XDSKIT_STORE if there is neither: it is not known what clients must have. `problem` hears what goes wrong with the
 * copy later.
 */
export async function openEtcdState(
  { endpoints, prefix }: EtcdUrl,
  problem: (finding: Finding | undefined) => void,
): Promise<EtcdState> {
  // Loaded only now: most servers have none.
  const { openEtcdStore } = await import("@xdskit/store-etcd");
  const credentials = etcdCredentials();
  // A file that is missing is a mistake, which no copy must hide.
  await credentials.tls?.();
  const open = () => openEtcdStore({ endpoints, prefix, ...credentials, tlsProblem: problem });
  const { copy, findings } = await openCopy(copyFolder({ endpoints, prefix }));
  const name = `etcd ${endpoints.join(",")}${prefix}`;
  const store = await CopiedStore.open({ name, open, copy, problem, keys: copiedRollouts }).catch((error: unknown) => {
    throw withoutCopy(error);
  });
  const { fromCopy } = store;
  return { store, findings: fromCopy === undefined ? findings : [...findings, fromCopy] };
}

/** The folder for the copy: one for each store. */
export function copyFolder(
  { endpoints, prefix }: Pick<EtcdUrl, "endpoints" | "prefix">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const text = `${[...endpoints].sort().join(",")}${prefix}`;
  const own = `etcd${prefix.replaceAll("/", "-").slice(0, 100)}-${hash("sha256", text, "base64url").slice(0, 12)}`;
  return join(stateHome(env), own);
}

/** A machine without a disk for it serves all the same, as long as etcd is there at the start. */
async function openCopy(
  directory: string,
): Promise<{ readonly copy: StoreCopy | undefined; readonly findings: readonly Finding[] }> {
  try {
    // Loaded only now: it is native, and may be missing on a machine.
    const { openSqliteStore } = await import("@xdskit/store-sqlite");
    const { store, findings, isReadOnly } = await openSqliteStore(directory);
    if (isReadOnly) {
      await store.close();
      throw new Error(findings.map(({ message }) => message).join("; "));
    }
    return { copy: new StoreCopy(store), findings };
  } catch (error) {
    const message = `no copy of etcd is kept on this machine: ${(error as Error).message}`;
    return { copy: undefined, findings: [{ code: "XDSKIT_STORE", severity: "warning", message }] };
  }
}

function withoutCopy(error: unknown): unknown {
  if (!(error instanceof XdskitError)) return error;
  const [first, ...others] = error.findings;
  if (first === undefined) return error;
  const message = `${first.message}; this machine has no copy of it, so it is not known what clients must have`;
  return new XdskitError([{ ...first, message }, ...others], { cause: error });
}
