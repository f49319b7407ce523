import net from "node:net";

/** A bound socket as Node has it inside, which nobody accepts on here. A server may listen on it. */
export interface ListeningHandle {
  readonly fd: number;
  close(): void;
  unref(): void;
  getsockname(out: { port?: number }): number;
}

const withoutWorkers =
  "this version of Node cannot share a listening socket between threads: run xdskit without workers";

/**
 * Binds a socket without listening, by the private function that Node's own `cluster` binds with. A number is an
 * error of the system. Fallback: where this Node does not have it, an error that says to run without workers, which
 * nothing else needs.
 */
export function bindHandle(
  address: string,
  port: number,
  family: number,
  from: object = net,
): ListeningHandle | number {
  const { _createServerHandle: create } = from as {
    _createServerHandle?(address: string, port: number, family: number): ListeningHandle | number;
  };
  if (typeof create !== "function") throw new Error(withoutWorkers);
  return create(address, port, family);
}

/**
 * The handle of a server that listens, a private part of it. Fallback: an error, and the server goes on to listen by
 * itself.
 */
export function handleOf(server: net.Server): ListeningHandle {
  const { _handle: handle } = server as unknown as { readonly _handle?: ListeningHandle | null };
  if (handle === null || handle === undefined) throw new Error("the server does not listen");
  return handle;
}
