import type { ApiVersion, ResourceType } from "@xdskit/api";
import type { PollAnswer, PollConnection, PollHandler, PollTransport } from "../../contracts/poll-transport.js";

/** A poll in memory. */
export interface MemoryPoll {
  /** After `cancel` it never resolves. */
  readonly answer: Promise<PollAnswer>;
  /** Disconnects without a message. */
  cancel(): void;
}

/** A client's connection in memory. */
export interface MemoryPollClient {
  /** Sends a request; `json` is a `DiscoveryRequest` in JSON, parsed. */
  poll(type: ResourceType, json: unknown, api?: ApiVersion): MemoryPoll;
  /** Cancels polls in progress; the server must not assume that its answers were received. */
  close(): void;
}

/** A way for polls to come in without a network, for tests of programs that use a server. */
export interface MemoryPollTransport extends PollTransport {
  /**
   * Connects to the server at an address; throws if there is none. `from` is the client's address, as the server sees
   * it.
   */
  connect(address: string, from?: string): MemoryPollClient;
}

/**
 * A transport of polls without a socket, for tests: `server.pollOn(transport, "anywhere")`, then
 * `transport.connect("anywhere")`.
 */
export function createMemoryPollTransport(): MemoryPollTransport {
  const handlers = new Map<string, PollHandler>();
  let clients = 0;
  return {
    async listen(address, handler) {
      handlers.set(address, handler);
      return address;
    },
    async close() {
      handlers.clear();
    },
    connect(address, from = "memory") {
      const handler = handlers.get(address);
      if (handler === undefined) throw new Error(`nobody listens on ${address}`);
      const connection: { -readonly [K in keyof PollConnection]: PollConnection[K] } = {
        peer: `${from}:${++clients}`,
        address: from,
        open: true,
      };
      const underWay = new Set<() => void>();
      return {
        poll(type, json, api = "v3") {
          let cancel = () => {};
          let answered = false;
          const answer = new Promise<PollAnswer>((resolve) => {
            const path = `/${api}/discovery:${type.restPath ?? type.name}`;
            const bytes = JSON.stringify(json)?.length ?? 0;
            cancel = handler.poll({ api, type, path, json, bytes, connection }, (given) => {
              answered = true;
              underWay.delete(cancel);
              resolve(given);
            });
          });
          if (!answered) underWay.add(cancel);
          return { answer, cancel: () => cancel() };
        },
        close() {
          connection.open = false;
          for (const cancel of underWay) cancel();
          underWay.clear();
        },
      };
    },
  };
}
