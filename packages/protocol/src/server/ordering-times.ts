/** How long an order waits, in milliseconds. */
export interface OrderingTimes {
  /** For a client to answer. Default 15,000. */
  readonly acknowledgement: number;
  /** For connections to drain after what replaces a listener is in use. Default 2,000. */
  readonly linger: number;
  /** For a client to stop asking for what is removed, after nothing that it uses names it. Default 5,000. */
  readonly named: number;
}

/** The times of `ordering` in docs/settings.md. */
export const defaultOrderingTimes: OrderingTimes = { acknowledgement: 15_000, linger: 2_000, named: 5_000 };

/**
 * Per-type streams: how long, in milliseconds, after a client acknowledged a cluster it may still ask for the load assignment on another stream. It asks as it takes the cluster, before
 * it acknowledges that (Envoy on the wire, 1), but connections may be of different speed. A client that has not asked by then will not.
 */
export const askingTime = 1_000;
