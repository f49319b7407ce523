import type { Server, Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { backlog } from "@xdskit/grpc-server";
import type { ListeningHandle } from "../node-internals/listening-handle.js";
import { duplicates } from "./listening-socket.js";
import type { SharedNumbers } from "./shared-numbers.js";

/**
 * Which thread gets a connection is decided by the system, by which one is quicker: the same one mostly, where both are
 * idle. So one that has more than its share leaves accepting to the others until they have as many.
 */
export interface AcceptTurns {
  /** Counts what a server accepts, and has it listen in turns from now on. */
  add(server: Server): void;
  close(): void;
}

/**
 * A server, and duplicates of its socket: one that listens can stop only by closing what it has, and needs another one
 * to go on.
 */
interface Listener {
  readonly server: Server;
  spares: readonly ListeningHandle[];
  /** None could be had: it listens for good. */
  isBound: boolean;
}

/** So many duplicates at once, since each time costs the start of a process. */
const sparesAtOnce = 32;
/**
 * How soon it is looked again whether the others have as many: each time twice as late, as long as nothing comes.
 * Milliseconds.
 */
const soonestMs = 5;
const latestMs = 100;

export function createAcceptTurns(worker: number, numbers: SharedNumbers): AcceptTurns {
  const listeners: Listener[] = [];
  let count = 0;
  let isAway = false;
  let isFetching = false;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  function counted(difference: number): void {
    count += difference;
    numbers.setConnections(worker, count);
    if (difference > 0) look();
  }

  /** More than the mean of all by a thirtieth, and than somebody by two. */
  function hasSurplus(): boolean {
    const others = numbers.connectionsBeside(worker);
    const mean = others.reduce((sum, other) => sum + other, count) / (others.length + 1);
    return count >= Math.min(...others) + 2 && count > mean * (1 + 1 / 32);
  }

  function look(): void {
    if (isOver || isAway || listeners.some(({ isBound }) => isBound) || !hasSurplus()) return;
    if (listeners.some(({ spares }) => spares.length === 0)) void fetch();
    else leave();
  }

  async function fetch(): Promise<void> {
    if (isFetching) return;
    isFetching = true;
    for (const listener of listeners) {
      if (listener.spares.length > 0) continue;
      try {
        const made = await duplicates(listener.server, sparesAtOnce);
        if (isOver) for (const handle of made) handle.close();
        else listener.spares = made;
      } catch {
        listener.isBound = true;
      }
    }
    isFetching = false;
    look();
  }

  function leave(): void {
    isAway = true;
    for (const { server } of listeners) server.close();
    wait(soonestMs, numbers.connectionsBeside(worker));
  }

  function wait(ms: number, before: readonly number[]): void {
    timer = setTimeout(() => {
      const others = numbers.connectionsBeside(worker);
      const mean = others.reduce((sum, other) => sum + other, 0) / others.length;
      // Nobody is left, or nobody who can take more: then it is better to have more than one's share.
      if (others.length === 0 || count <= mean) comeBack();
      else wait(String(others) === String(before) ? Math.min(2 * ms, latestMs) : soonestMs, others);
    }, ms).unref();
  }

  function comeBack(): void {
    isAway = false;
    for (const listener of listeners) {
      if (listener.server.listening) continue;
      const [handle, ...spares] = listener.spares;
      listener.spares = spares;
      listener.server.listen(handle, backlog);
    }
  }

  return {
    add(server) {
      if (listeners.some((listener) => listener.server === server)) return;
      listeners.push({ server, spares: [], isBound: false });
      numbers.setConnections(worker, count);
      // What is below TLS does not always say that it is closed.
      server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
        counted(1);
        socket.once("close", () => counted(-1));
      });
    },
    close() {
      isOver = true;
      clearTimeout(timer);
      for (const { spares } of listeners) for (const handle of spares) handle.close();
    },
  };
}
