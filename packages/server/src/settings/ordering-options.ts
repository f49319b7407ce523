/**
 * Changes go out make before break: a removed resource stays until nothing that the client may use names it any more
 * (rule 120). These are the longest waits, in milliseconds.
 */
export interface OrderingOptions {
  /**
   * How long to wait for a client's answer to a response. Default 15,000, as long as Envoy waits for a cluster to
   * warm.
   */
  readonly acknowledgementMs: number;
  /** The shortest wait for connections to drain from a replaced or removed listener. Default 2,000. */
  readonly lingerMs: number;
  /**
   * The longest drain, which should be Envoy's drain time (`--drain-time-s`): as long as the client asks by name for
   * something that the listener named, or all of that time if it never asked. Not for gRPC clients. Default 600,000.
   */
  readonly drainMs: number;
  /** How long to wait for a client to stop asking by name for a removed resource. Default 5,000. */
  readonly namedMs: number;
}
