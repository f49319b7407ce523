import { hash } from "node:crypto";
import { access } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import type { Revision, Store } from "@xdskit/server";
import type { StoreUrl } from "../../settings/options/store-url.js";
import type { WorkerSlot } from "../workers/worker-slot.js";
import { openEtcdState } from "./etcd-state.js";
import { stateHome } from "./state-home.js";

/** Says that no state is kept. */
const noState = "off";

/** What the state of a served folder is called: two servers that share a state folder must not mix what they serve. */
export function stateOfFolder(served: string): string {
  const path = resolve(served);
  return ownState(basename(path), path);
}

/** A name for the state of what `identity` says. */
export function ownState(word: string, identity: string): string {
  return `${word}-${hash("sha256", identity, "base64url").slice(0, 12)}`;
}

/**
 * The folder in which a state is kept: one of its own name in what the option says, else in what systemd says, else
 * among the user's files. Undefined: nowhere.
 */
export function stateFolder(
  option: string | undefined,
  own: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  if (option === noState) return undefined;
  return join(option === undefined || option === "" ? stateHome(env) : resolve(option), own);
}

/** The state of a server. */
export interface ServerState {
  /** Undefined: no revisions are kept. */
  readonly store: Store | undefined;
  /** The newest revisions at the start. */
  readonly heads: readonly Revision[];
  /** The folder of this machine that it is in; undefined: none. */
  readonly directory: string | undefined;
  /** It outlives the server. */
  readonly isDurable: boolean;
  readonly findings: readonly Finding[];
  /** What it had before is not served, or it cannot be written. Undefined: it is well, or none is wanted. */
  readonly trouble: Finding | undefined;
}

/** Where to keep the state of a server. */
export interface StateOptions {
  readonly option: string | undefined;
  /** What it is called among others. */
  readonly own: string;
  readonly url?: StoreUrl | undefined;
  /** One of several processes. They must share a store, even if nothing must be kept. */
  readonly worker?: WorkerSlot | undefined;
  /** Hears what goes wrong with a copy of the store on this machine; undefined: it is well again. */
  readonly problem: (finding: Finding | undefined) => void;
  /** The error for which a file of this machine is not used. */
  readonly failed?: unknown;
}

/** How often a file that cannot be read is opened. After that, it is not used. */
const maxReadings = 2;

/**
 * Opens the state and reads from it, as `read` does. If it cannot be read, the file stays, and the server goes on
 * without it.
 */
export async function openAndRead<T>(
  options: StateOptions,
  read: (state: ServerState) => Promise<T>,
): Promise<{ readonly state: ServerState; readonly found: T }> {
  let failed: unknown;
  for (let readings = 1; ; readings += 1) {
    const state = await openState({ ...options, failed });
    try {
      return { state, found: await read(state) };
    } catch (error) {
      const isOfStore = error instanceof XdskitError && error.code === "XDSKIT_STORE";
      await state.store?.close();
      if (!isOfStore || options.url?.kind === "etcd" || readings > maxReadings) throw error;
      if (readings === maxReadings) failed = error;
    }
  }
}

/**
 * Opens the state of a server: in the store of `url`, else in a folder of this machine. The findings have the errors
 * of that folder. The server goes on without it. Rejects with XDSKIT_STORE if etcd cannot be reached, and this machine
 * has no copy of it.
 */
export async function openState(options: StateOptions): Promise<ServerState> {
  const { option, own, url, worker, problem, failed } = options;
  if (url?.kind === "etcd") {
    const { store, findings } = await openEtcdState(url, problem);
    return { store, findings, heads: await store.heads(), directory: undefined, isDurable: true, trouble: undefined };
  }
  const directory = stateFolder(url?.directory ?? option, own);
  let found: OpenedState;
  try {
    if (failed !== undefined) throw failed;
    found = directory === undefined ? nowhere : await openLocal(directory);
  } catch (error) {
    const findings = problemsOf(error).map(nothingKept);
    found = {
      ...nowhere,
      findings,
      trouble: (await mayHoldRevisions(directory)) ? notServed(findings) : notWritten(findings),
    };
  }
  const { findings, trouble } = found;
  const isDurable = found.store !== undefined && !found.isReadOnly;
  const temporary = found.store === undefined ? worker && join(worker.directory, "state") : undefined;
  if (temporary !== undefined) found = await openLocal(temporary);
  const { store } = found;
  const heads = (await store?.heads()) ?? [];
  return { store, heads, directory: store && (temporary ?? directory), isDurable, findings, trouble };
}

interface OpenedState extends Pick<ServerState, "store" | "findings" | "trouble"> {
  readonly isReadOnly: boolean;
}

const nowhere: OpenedState = { store: undefined, findings: [], trouble: undefined, isReadOnly: false };

async function openLocal(directory: string): Promise<OpenedState> {
  // Loaded only now: it is native, and may be missing on a machine.
  const { openSqliteStore } = await import("@xdskit/store-sqlite");
  const { store, findings, isLost, isReadOnly } = await openSqliteStore(directory);
  // If only the newest changes are missing, what is left is served.
  const trouble = isLost ? notServed(findings) : notWritten(findings);
  return { store, findings, trouble, isReadOnly };
}

/** The file of a state, as its store calls it: that one may not be loaded here. */
const stateFile = "revisions.db";

/** Also where nobody can say. */
async function mayHoldRevisions(directory: string | undefined): Promise<boolean> {
  if (directory === undefined) return false;
  return await access(join(directory, stateFile)).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== "ENOENT" && code !== "ENOTDIR",
  );
}

/** What the state had is not known to this server. */
function notServed([finding]: readonly Finding[]): Finding | undefined {
  return (
    finding && asError("what was written over the API before is not served, since the state cannot be read: ", finding)
  );
}

/** What it holds from now on is gone with the process. */
function notWritten([finding]: readonly Finding[]): Finding | undefined {
  return finding && asError("the state: ", finding);
}

function asError(what: string, finding: Finding): Finding {
  return { ...finding, severity: "error", message: what + finding.message };
}

type StateProblem = Omit<Finding, "severity">;

function problemsOf(error: unknown): readonly StateProblem[] {
  if (error instanceof XdskitError) return error.findings;
  return [{ code: "XDSKIT_STORE", message: `it cannot be opened: ${(error as Error).message}` }];
}

function nothingKept(problem: StateProblem): Finding {
  return { ...problem, severity: "warning", message: `${problem.message}; no revisions are kept` };
}
