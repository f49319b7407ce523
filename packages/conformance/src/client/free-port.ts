import { createServer } from "node:net";
import { Failed } from "../verdicts/verdicts.js";

/** Below the ports that systems give to outgoing connections, and to servers that ask for any. */
const [first, last] = [12_000, 31_000];
const attempts = 100;
const taken = new Set<number>();

/** A port of 127.0.0.1 for a program that must be told its port. Throws Failed if there is none. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = first + Math.floor(Math.random() * (last - first));
    if (taken.has(port)) continue;
    taken.add(port);
    if (await isFree(port)) return port;
  }
  throw new Failed(`there is no free port between ${first} and ${last}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
