import { createServer } from "node:net";

const first = 12_000;
const last = 31_000;

/**
 * A TCP port of 127.0.0.1 that nobody listens on, for programs that must be told their port. It lies below the range
 * from which the kernel takes ports for outgoing connections, so that none of those can take it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = first + Math.floor(Math.random() * (last - first));
    if (!taken.has(port) && (await canListen(port))) {
      taken.add(port);
      return port;
    }
  }
  throw new Error(`no free port found between ${first} and ${last}`);
}

const taken = new Set<number>();

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
