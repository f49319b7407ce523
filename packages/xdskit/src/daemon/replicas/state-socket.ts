import { chmod, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { socketRefusal } from "@xdskit/server";
import type { ReplicaListener } from "./replica-listener.js";

/** Finds the other servers of a state folder, also those that do not know of any other yet: their ids. */
export type FindNeighbors = () => Promise<ReadonlySet<string>>;

/** The socket of a server of a state folder, listening. */
export interface StateSocket {
  readonly listener: ReplicaListener;
  /** As it stands in the store: a path below the state folder, or an absolute one. */
  readonly address: string;
  /** Undefined: it is not in the state folder, and nobody is found there. */
  readonly neighbors: FindNeighbors | undefined;
}

const folderName = "servers";
const ending = ".sock";
/** The longest path of a socket, in bytes: longer ones are cut off, and mean another file. */
const maxPathBytes = process.platform === "linux" ? 107 : 103;
/** A process that ends without a chance leaves its socket. One that is younger, in milliseconds, may not listen yet. */
const youngMs = 10_000;

/**
 * Listens on a socket in the state folder (mode 0600, in a folder of mode 0700), where other servers of this state look
 * for it. If that cannot be, it is in a folder of temporary files. Rejects with the system's error if that cannot be
 * either.
 */
export async function listenForState(
  directory: string,
  id: string,
  listen: (path: string) => Promise<ReplicaListener>,
): Promise<StateSocket> {
  if (process.platform === "win32") return await listenElsewhere(`\\\\.\\pipe\\xdskit-${id}`, listen);
  const listenAt = async (path: string) => {
    if (isTooLong(path)) throw new Error(`the path of the socket ${path} is too long`);
    return await listen(path);
  };
  const folder = join(directory, folderName);
  const path = join(folder, id + ending);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const listener = await listenAt(path);
    await chmod(path, 0o600);
    return { listener, address: `unix:${folderName}/${id}${ending}`, neighbors: () => neighborsIn(folder, id) };
  } catch {
    const own = await mkdtemp(join(tmpdir(), "xdskit-"));
    return await listenElsewhere(join(own, id + ending), listenAt, () => rm(own, { recursive: true, force: true }));
  }
}

function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) > maxPathBytes;
}

async function listenElsewhere(
  path: string,
  listen: (path: string) => Promise<ReplicaListener>,
  clear = async () => {},
): Promise<StateSocket> {
  const listener = await listen(path).catch(async (error: unknown) => {
    await clear();
    throw error;
  });
  const close = async () => {
    await listener.close();
    await clear();
  };
  return { listener: { ...listener, close }, address: `unix:${path}`, neighbors: undefined };
}

/** Whether a server may be listening in the state folder; also true if that cannot be determined. */
export async function mayBeListening(directory: string): Promise<boolean> {
  try {
    return (await listeningIn(join(directory, folderName))).length > 0;
  } catch (error) {
    // Nobody listens in a folder that does not exist, or is a file.
    return !["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** A server listens before it looks: of two that start at once, one sees the other. */
async function neighborsIn(folder: string, self: string): Promise<ReadonlySet<string>> {
  return new Set(await listeningIn(folder, self).catch(() => []));
}

/** The ids of the other servers that listen. Sockets that ended processes left are removed. */
async function listeningIn(folder: string, self?: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
  const ids = names.map((name) => name.slice(0, -ending.length)).filter((id) => id !== self);
  const listening = await Promise.all(ids.map((id) => isListening(join(folder, id + ending))));
  return ids.filter((_, at) => listening[at]);
}

async function isListening(path: string): Promise<boolean> {
  // Nobody can ask there: whoever listens has a shorter path of the folder.
  if (isTooLong(path)) return true;
  const refusal = await socketRefusal(path);
  if (refusal === "ENOENT") return false;
  if (refusal !== "ECONNREFUSED") return true;
  const made = await stat(path).catch(() => undefined);
  if (made !== undefined && Date.now() - made.mtimeMs > youngMs) await rm(path, { force: true }).catch(() => {});
  return false;
}
