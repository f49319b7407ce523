/** The labels of metrics. */
export interface ClientMetricsOptions {
  /** The label `grpc.target`: the purpose of the client, such as the target of a channel. Default `#client`. */
  readonly target?: string | undefined;
}
