import { hash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import type { Revision, Store } from "@xdskit/server";
import type { ProcessPlace } from "../processes/process-place.js";
import type { StoreUrl } from "../settings/store-url.js";
import { openEtcdState } from "./etcd-state.js";
import { stateHome } from "./state-home.js";

/** Says that no state is kept. */
const noState = "off";

/**
 * The folder in which the state of a served folder is kept: one of its own in what the option says, else in what
 * systemd says, else among the user's files. Undefined: nowhere.
 */
export function stateFolder(
  option: string | undefined,
  served: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  if (option === noState) return undefined;
  const path = resolve(served);
  // Two servers that share a state, and serve different folders, must not mix them.
  const own = `${basename(path)}-${hash("sha256", path, "base64url").slice(0, 12)}`;
  return join(option === undefined || option === "" ? stateHome(env) : resolve(option), own);
}

/** The state of a server. */
export interface ServerState {
  /** Undefined: no revisions are kept. */
  readonly store: Store | undefined;
  /** The newest revisions at the start. */
  readonly heads: readonly Revision[];
  /** It outlives the server. */
  readonly isDurable: boolean;
  readonly findings: readonly Finding[];
}

/** Where to keep the state of a server. */
export interface StateOptions {
  readonly option: string | undefined;
  /** The served folder. */
  readonly served: string;
  readonly url?: StoreUrl | undefined;
  /** One of several processes. They must share a store, even if nothing must be kept. */
  readonly place?: ProcessPlace | undefined;
  /** Hears what goes wrong with a copy of the store on this machine; undefined: it is well again. */
  readonly problem: (finding: Finding | undefined) => void;
}

/**
 * Opens the state of a served folder: in the store of `url`, else in a folder of this machine. The findings have the
 * errors of that folder. The server goes on without it. Rejects with XDSKIT_STORE if etcd cannot be reached, and this
 * machine has no copy of it.
 */
export async function openState(options: StateOptions): Promise<ServerState> {
  const { option, served, url, place, problem } = options;
  if (url?.kind === "etcd") {
    const { store, findings } = await openEtcdState(url, problem);
    return { store, findings, heads: await store.heads(), isDurable: true };
  }
  let found: Opened;
  try {
    found = await openHere(url?.directory ?? option, served);
  } catch (error) {
    found = { store: undefined, findings: problemsOf(error).map(nothingKept) };
  }
  const { findings } = found;
  const isDurable = found.store !== undefined;
  if (!isDurable && place !== undefined) found = await openLmdb(join(place.directory, "state"));
  return { ...found, heads: (await found.store?.heads()) ?? [], isDurable, findings };
}

type Opened = Pick<ServerState, "store" | "findings">;

async function openHere(option: string | undefined, served: string): Promise<Opened> {
  const directory = stateFolder(option, served);
  return directory === undefined ? { store: undefined, findings: [] } : await openLmdb(directory);
}

async function openLmdb(directory: string): Promise<Opened> {
  // Loaded only now: it is native, and may be missing on a machine.
  const { openLmdbStore } = await import("@xdskit/store-lmdb");
  return await openLmdbStore(directory);
}

type StateProblem = Omit<Finding, "severity">;

function problemsOf(error: unknown): readonly StateProblem[] {
  if (error instanceof XdskitError) return error.findings;
  return [{ code: "XDSKIT_STORE", message: `it cannot be opened: ${(error as Error).message}` }];
}

function nothingKept(problem: StateProblem): Finding {
  return { ...problem, severity: "warning", message: `${problem.message}; no revisions are kept` };
}
