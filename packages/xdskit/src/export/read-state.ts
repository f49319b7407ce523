import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { maxKept, XdskitError } from "@xdskit/api";
import type { RevisionId, Store, StoredResource } from "@xdskit/server";
import { stateHome } from "../daemon/revisions/state-home.js";

/**
 * Reads revisions from the state of a server on this machine. `directory` is what `--state` of the server says, or the
 * folder below it that is this server's own; undefined: the default. Rejects with XDSKIT_STORE if no state there has
 * all of the revisions.
 */
export async function readFromState(
  directory: string | undefined,
  ids: readonly RevisionId[],
): Promise<ReadonlyMap<RevisionId, readonly StoredResource[]>> {
  const found = directory ?? stateHome(process.env);
  for (const folder of await statesIn(found)) {
    const contents = await readIfThere(folder, ids);
    if (contents !== undefined) return contents;
  }
  const message =
    "no state in this folder has what the server serves: name with --state the folder that the server has";
  throw XdskitError.of("XDSKIT_STORE", message, { file: found });
}

/** The folders with a state: this one, and those in it. */
async function statesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? "there is no such folder" : (error.code ?? error.message);
    throw XdskitError.of("XDSKIT_STORE", `the state cannot be read: ${reason}`, { file: directory });
  });
  const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
  return [directory, ...below.slice(0, maxKept)];
}

/** Undefined: it is no state, or of another server. */
async function readIfThere(folder: string, ids: readonly RevisionId[]) {
  // Loaded only now: it is native, and may be missing on a machine.
  const { readSqliteStore } = await import("@xdskit/store-sqlite");
  let store: Store;
  try {
    store = await readSqliteStore(folder);
  } catch (error) {
    if (error instanceof XdskitError) return undefined;
    throw error;
  }
  try {
    const contents = new Map<RevisionId, readonly StoredResource[]>();
    for (const id of ids) {
      if ((await store.revision(id)) === undefined) return undefined;
      contents.set(id, await store.read(id));
    }
    return contents;
  } finally {
    await store.close();
  }
}
