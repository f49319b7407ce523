import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Scene } from "../basics/scene.js";

/** An HTTP server in this process that answers every request with its name. */
export interface HttpBackend {
  readonly name: string;
  readonly port: number;
  /** Requests answered so far. */
  readonly served: () => number;
}

/** The path at which a backend is asked whether it is well. */
export const healthPath = "/health";

/** With `well`, it says that it is well (at `healthPath`) only once that resolved. */
export async function startHttpBackend(scene: Scene, name: string, well?: Promise<void>): Promise<HttpBackend> {
  let served = 0;
  const server = createServer({ keepAliveTimeout: 600_000 }, async ({ url }, response) => {
    if (url === healthPath) await well;
    else served += 1;
    response.end(name);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  scene.onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { name, port: (server.address() as AddressInfo).port, served: () => served };
}
