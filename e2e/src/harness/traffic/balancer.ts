import { connect, createServer, type Socket } from "node:net";
import type { Scene } from "../basics/scene.js";

/** Where connections go. */
export interface Backend {
  readonly address: string;
  /** Asked now and then; what does not answer in time gets no new connections. */
  isHealthy(): Promise<boolean>;
}

const checkMs = 250;

/** A load balancer of connections, as stands before servers: each goes to the next backend that is healthy. */
export async function startBalancer(scene: Scene, backends: readonly Backend[]): Promise<string> {
  const healthy = new Set(backends);
  const check = async (backend: Backend) => {
    if (await backend.isHealthy().catch(() => false)) healthy.add(backend);
    else healthy.delete(backend);
  };
  const timer = setInterval(() => void Promise.all(backends.map(check)), checkMs);
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    turn += 1;
    const next = backends[turn % backends.length];
    const order = [...backends.slice(turn % backends.length), ...backends.slice(0, turn % backends.length)];
    const chosen = order.find((backend) => healthy.has(backend)) ?? next;
    const [host = "", port = ""] = chosen?.address.split(":") ?? [];
    const upstream = connect(Number(port), host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scene.onEnd(() => {
    clearInterval(timer);
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}
