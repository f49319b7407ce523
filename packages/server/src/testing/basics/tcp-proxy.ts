import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a client and a server, and can fail as a network does. */
export interface TcpProxy {
  readonly address: string;
  /** Resets all connections: both ends see them break. */
  reset(): void;
  /** From now on nothing passes any more, and neither end notices. */
  swallow(): void;
  close(): Promise<void>;
}

export async function createTcpProxy(target: string): Promise<TcpProxy> {
  const [host, port] = [target.slice(0, target.lastIndexOf(":")), Number(target.slice(target.lastIndexOf(":") + 1))];
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(port, host);
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset,
    swallow() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.resume();
      }
    },
    async close() {
      reset();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
