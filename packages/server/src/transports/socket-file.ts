import cluster from "node:cluster";
import { chmod, lstat, rm } from "node:fs/promises";
import { connect } from "node:net";
import { isMainThread } from "node:worker_threads";
import type { ListenAddress } from "../basics/address.js";

/**
 * Listens at an address. `listen` binds before it returns, and rejects with the system's error. A Unix socket that an
 * ended process left is replaced, and at no time can others connect than those whom its mode lets in.
 */
export async function listenAt<T>(at: ListenAddress, listen: () => Promise<T>): Promise<T> {
  if (!("path" in at)) return await listen();
  const { path, mode = 0o600 } = at;
  // Before, and not after a failure: a worker that listens again does not share what another one has.
  if (await isSocketLeft(path)) await rm(path, { force: true });
  // A worker's socket is bound by the process that started it, and threads have no mask of their own.
  const canMask = isMainThread && !cluster.isWorker;
  const before = canMask ? process.umask(0o777 & ~mode) : undefined;
  const listening = listen();
  if (before !== undefined) process.umask(before);
  const result = await listening;
  if (!canMask) await chmod(path, mode);
  return result;
}

/** A process that is stopped does not answer, and is there. */
const patienceMs = 1_000;

/** Whether a path is a Unix socket at which nobody listens any more. */
async function isSocketLeft(path: string): Promise<boolean> {
  const file = await lstat(path).catch(() => undefined);
  return file?.isSocket() === true && (await socketRefusal(path)) === "ECONNREFUSED";
}

/** The system's error when one connects to a Unix socket; undefined: somebody listens. */
export async function socketRefusal(path: string): Promise<string | undefined> {
  return await new Promise<string | undefined>((resolve) => {
    const socket = connect(path);
    const done = (code?: string) => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(patienceMs, () => done());
    socket.once("connect", () => done()).on("error", ({ code }: NodeJS.ErrnoException) => done(code));
  });
}
