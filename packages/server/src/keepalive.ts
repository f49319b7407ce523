/** How long a server keeps a connection: how it finds out that a client is gone without a word, and how old it may become. Pings of clients are always answered, with and without streams. */
export interface Keepalive {
  /** Milliseconds after which the server pings a connection of which it heard nothing meanwhile. Default 30,000. */
  readonly intervalMs: number;
  /** Milliseconds after which a connection whose ping was not answered is closed. Default 40,000: a client that is busy for a minute is kept. */
  readonly timeoutMs: number;
  /**
   * Milliseconds after which a connection takes no further streams and its client is told so (GOAWAY), a tenth more or less by chance, so that clients which came at once do not go
   * at once: where several servers stand behind one address, they spread anew. Default: never.
   */
  readonly maxAgeMs: number;
  /** Milliseconds from then until its streams are ended, with OK, and the connection with them. Streams of discovery do not end by themselves. Default 10,000. */
  readonly maxAgeGraceMs: number;
}

/** A ping after 30 s of silence, 40 s for its answer, and connections of any age. */
export const defaultKeepalive: Keepalive = {
  intervalMs: 30_000,
  timeoutMs: 40_000,
  maxAgeMs: Infinity,
  maxAgeGraceMs: 10_000,
};
