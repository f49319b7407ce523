/**
 * The times for which a server keeps connections: the pings that show whether a client is gone, and the largest age.
 * Pings of clients are always answered, with and without streams.
 */
export interface Keepalive {
  /** Milliseconds of silence after which the server pings a connection. Default 30,000. */
  readonly intervalMs: number;
  /**
   * Milliseconds after which a connection is closed whose ping was not answered. Default 40,000: a client that is
   * busy for a minute is kept.
   */
  readonly timeoutMs: number;
  /**
   * Milliseconds after which a connection takes no more streams and tells its client so (GOAWAY), a tenth more or
   * less by chance, so that clients that came at once do not leave at once. If several servers share one address, the
   * clients spread anew. Default: never.
   */
  readonly maxAgeMs: number;
  /**
   * Milliseconds from then until its streams end, with OK, and the connection with them. Long streams do not end by
   * themselves. Default 10,000.
   */
  readonly maxAgeGraceMs: number;
}

/** A ping after 30 s of silence, 40 s for its answer, and connections of any age. */
export const defaultKeepalive: Keepalive = {
  intervalMs: 30_000,
  timeoutMs: 40_000,
  maxAgeMs: Infinity,
  maxAgeGraceMs: 10_000,
};
