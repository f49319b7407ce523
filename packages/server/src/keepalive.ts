/** How a server finds out that a client is gone without a word. Pings of clients are always answered, with and without streams. */
export interface Keepalive {
  /** Milliseconds without a ping answered after which the server pings a connection. Default 30,000. */
  readonly intervalMs: number;
  /** Milliseconds after which a connection whose ping was not answered is closed. Default 20,000. */
  readonly timeoutMs: number;
}

export const defaultKeepalive: Keepalive = { intervalMs: 30_000, timeoutMs: 20_000 };
