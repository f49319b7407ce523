/** How a server finds out that a client is gone without a word. Pings of clients are always answered, with and without streams. */
export interface Keepalive {
  /** Milliseconds after which the server pings a connection of which it heard nothing meanwhile. Default 30,000. */
  readonly intervalMs: number;
  /** Milliseconds after which a connection whose ping was not answered is closed. Default 40,000: a client that is busy for a minute is kept. */
  readonly timeoutMs: number;
}

export const defaultKeepalive: Keepalive = { intervalMs: 30_000, timeoutMs: 40_000 };
