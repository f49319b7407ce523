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

/**
 * Whether a client is an Envoy of this version or a later one, by the user agent of its node. It gives its version as
 * `user_agent_build_version`. An Envoy that gives none, or one that cannot be read, is of no known version.
 */
export function isEnvoyFrom(
  node: Pick<Node, "userAgentName" | "userAgentVersion">,
  [major, minor]: readonly [major: number, minor: number],
): boolean {
  if (clientKindOf(node) !== "envoy") return false;
  const [, ownMajor, ownMinor] = /^v?(\d+)\.(\d+)/.exec(node.userAgentVersion) ?? [];
  if (ownMajor === undefined) return false;
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor);
}
