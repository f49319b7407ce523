import { XdskitError } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import type { Accept, Method, Transport } from "../../contracts/transport.js";
import { type MemoryReceiver, type MemoryStream, openMemoryStream } from "./memory-stream.js";

/** A transport without a network: for tests, and for a client and a server in one program. */
export interface MemoryTransport extends Transport {
  /** Opens a stream to the server at an address; without one it ends with UNAVAILABLE. */
  open(address: string, method: Method, receive: MemoryReceiver): MemoryStream;
}

/**
 * A transport without a socket, for tests: `server.listenOn(transport, "anywhere")`, then `transport.open("anywhere",
 * …)`.
 *
 * @example
 * ```ts
 * import { createMemoryTransport, createServer } from "@xdskit/server";
 *
 * const server = createServer();
 * const transport = createMemoryTransport();
 * await server.listenOn(transport, "here");
 * const sotw = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
 * const stream = transport.open("here", sotw, (bytes) => console.log(bytes.length));
 * ```
 */
export function createMemoryTransport(): MemoryTransport {
  const listening = new Map<string, Accept>();
  const open = new Set<{ readonly ended: Promise<void>; cut(): void }>();
  let streams = 0;

  return {
    async listen(address, accept) {
      if (listening.has(address)) {
        throw XdskitError.of("XDSKIT_ADDRESS_IN_USE", `cannot listen on ${address}: somebody listens there`);
      }
      listening.set(address, accept);
      return address;
    },
    async close(timeoutMs) {
      listening.clear();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([Promise.all(Array.from(open, ({ ended }) => ended)), late]);
      clearTimeout(timer);
      for (const stream of open) stream.cut();
    },
    open(address, method, receive) {
      streams += 1;
      const stream = openMemoryStream({
        peer: `memory:${streams}`,
        method,
        receive,
        accept: listening.get(address) ?? nobody,
      });
      const entry = { ended: stream.over, cut: stream.cancel };
      open.add(entry);
      void stream.over.then(() => open.delete(entry));
      return stream;
    },
  };
}

const nobody: Accept = () => ({ code: statusCode.unavailable, message: "nobody listens there" });
