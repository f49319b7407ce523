/**
 * A client's description of itself: the parts of `envoy.config.core.v3.Node` that a server decides by. The extensions
 * (60 kB from Envoy) are not kept.
 */
export interface Node {
  readonly id: string;
  readonly cluster: string;
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string };
  /** `Node.metadata` as JSON. */
  readonly metadata: { readonly [key: string]: unknown };
  /** Such as `envoy`, `gRPC Go`, `grpc-node`. */
  readonly userAgentName: string;
  readonly userAgentVersion: string;
  readonly clientFeatures: readonly string[];
}
