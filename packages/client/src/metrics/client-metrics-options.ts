/** How what is counted is labelled. */
export interface ClientMetricsOptions {
  /** The label `grpc.target`: what the client is for, such as the target of a channel. Default `#client`. */
  readonly target?: string | undefined;
}
