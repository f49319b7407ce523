import type { Node } from "./node.js";

/** The programs whose habits decide something: Envoy, the clients of gRPC in any language, and all others. */
export type ClientKind = "envoy" | "grpc" | "other";

/** `gRPC Go`, `gRPC C-core …`, `gRPC Java`, `gRPC Node Pure JS`, `grpc-node`. */
const grpcAgent = /^grpc/i;

/** Which program a client is, by the user agent of its node. A client that gives none, or an unknown one, is `other`. */
export function clientKindOf({ userAgentName }: Pick<Node, "userAgentName">): ClientKind {
  if (userAgentName === "envoy") return "envoy";
  return grpcAgent.test(userAgentName) ? "grpc" : "other";
}
