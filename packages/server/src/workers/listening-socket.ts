import { type ChildProcess, spawn } from "node:child_process";
import { lookup } from "node:dns/promises";
import type net from "node:net";
import { getSystemErrorName } from "node:util";
import { formatAddress } from "../basics/address.js";
import { bindHandle, handleOf, type ListeningHandle } from "../node-internals/listening-handle.js";
import { listenAddress, listenError } from "../transports/listening.js";

/**
 * A port that several threads accept on. Threads share one table of descriptors, and one that ends closes the
 * descriptors that it has: so each is given a duplicate of its own.
 */
export interface ListeningSocket {
  /** With the real port. */
  readonly address: string;
  /** A duplicate, for a thread to take. */
  take(): Promise<GivenSocket>;
  close(): void;
}

/** A bound socket on its way to a thread, which may end before it comes to it. */
export interface GivenSocket {
  readonly descriptor: number;
  /** For `takeGiven`, in the thread. */
  readonly given: SharedArrayBuffer;
  /** Closes it, unless it was taken; nobody can take it any more. */
  takeBack(): void;
}

const isTaken = 1;
const isTakenBack = 2;

/**
 * To be called by the thread before it listens: from then on nobody else may close the descriptor. False: it is there
 * no more.
 */
export function takeGiven(given: SharedArrayBuffer): boolean {
  return Atomics.compareExchange(new Int32Array(given), 0, 0, isTaken) === 0;
}

/** Several at once, since each time costs the start of a process. */
const atOnce = 4;
const duplicateMs = 10_000;

/**
 * Node has no way to duplicate a descriptor but one: a handle that is sent through the channel of a child process comes
 * as a duplicate. This one sends back what it gets, so many times, and is ended. It says when it is ready, and is given
 * nothing before: as long as it has a duplicate, or one is on the way to it, the port stays open, also where this
 * process was killed meanwhile. Connections would go there to wait for nobody, and whoever starts next could not
 * listen.
 */
const echo = `
  // Who asked is gone: there is nobody to be told of that.
  process.on("error", () => process.exit());
  process.on("message", (count, handle) => {
    for (let sent = 0; sent < count; sent++) process.send(sent, handle, { keepOpen: true });
  });
  process.send("ready");
`;

/**
 * Binds, and does not listen yet: the first thread that does opens the port. Throws an XdskitError as other transports
 * do.
 */
export async function bindSocket(text: string): Promise<ListeningSocket> {
  const { host, port } = listenAddress(text);
  const failed = (code: string) => listenError(text, new Error(`listen ${code}`));
  const found = await lookup(host).catch((error: NodeJS.ErrnoException) => {
    throw failed(error.code ?? error.message);
  });
  const bound = boundAt(text, found.address, port, found.family);
  if (typeof bound === "number") throw failed(getSystemErrorName(bound));
  const at: { port?: number } = {};
  bound.getsockname(at);
  // An address in use shows only later, and a socket without a port would listen on any.
  if (at.port === undefined || at.port === 0 || (port !== 0 && at.port !== port)) {
    bound.close();
    throw failed("EADDRINUSE");
  }
  /** Duplicates that nobody was given yet. */
  let spare: ListeningHandle[] = [];
  /** Those that were given away: letting go of one would close what is another's by then. */
  const given = new Set<ListeningHandle>();
  let closed = false;

  async function duplicate(): Promise<void> {
    const made = await echoed(bound as ListeningHandle, atOnce);
    if (closed) for (const handle of made) handle.close();
    else spare.push(...made);
  }

  return {
    address: formatAddress({ host, port: at.port }),
    async take() {
      if (spare.length === 0) await duplicate();
      const handle = spare.pop();
      if (handle === undefined) throw failed("EBADF");
      given.add(handle);
      const whose = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
      return {
        descriptor: handle.fd,
        given: whose,
        takeBack() {
          if (Atomics.compareExchange(new Int32Array(whose), 0, 0, isTakenBack) !== 0) return;
          given.delete(handle);
          handle.close();
        },
      };
    },
    close() {
      closed = true;
      for (const handle of [bound, ...spare]) handle.close();
      spare = [];
    },
  };
}

/**
 * So many duplicates of the socket that a server listens on, which belong to this thread. Rejects where it does not
 * listen.
 */
export async function duplicates(server: net.Server, count: number): Promise<readonly ListeningHandle[]> {
  return await echoed(handleOf(server), count);
}

function boundAt(text: string, ...at: Parameters<typeof bindHandle>): ListeningHandle | number {
  try {
    return bindHandle(...at);
  } catch (error) {
    throw listenError(text, error as Error);
  }
}

function echoed(handle: ListeningHandle, count: number): Promise<readonly ListeningHandle[]> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(process.execPath, ["-e", echo], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const made: ListeningHandle[] = [];
    const late = setTimeout(() => fail(new Error("it took too long")), duplicateMs);
    const fail = (error: Error) => {
      clearTimeout(late);
      child.kill("SIGKILL");
      for (const each of made) each.close();
      reject(new Error(`a listening socket could not be shared with workers: ${error.message}`, { cause: error }));
    };
    child.once("error", fail);
    child.once("exit", (code) => {
      if (made.length < count) fail(new Error(`a process that was to help ended with ${code}`));
    });
    child.on("message", (message, echoed) => {
      if (message === "ready") {
        child.send(count, handle as unknown as net.Server, { keepOpen: true });
        return;
      }
      const duplicate = echoed as unknown as ListeningHandle;
      duplicate.unref();
      made.push(duplicate);
      if (made.length < count) return;
      clearTimeout(late);
      child.removeAllListeners("exit");
      child.kill();
      resolve(made);
    });
  });
}
