/** How polls are served. */
export interface RestOptions {
  /**
   * How long an up-to-date poll is parked, in milliseconds, before it is answered with 304. Default 800: Envoy gives up
   * a request after 1 s (`request_timeout` of its `ApiConfigSource`) by default; with a longer timeout there, hold for
   * almost as long. 0: not at all.
   */
  readonly holdMs: number;
  /** How long a client may take to send a request, in milliseconds, before it is answered with 408. Default 15,000. */
  readonly requestTimeoutMs: number;
}

/** The options of a server without options of its own. */
export const defaultRestOptions: RestOptions = { holdMs: 800, requestTimeoutMs: 15_000 };
