import { compareEnvoyVersions, type EnvoyVersion, parseEnvoyVersion } from "@xdskit/api";
import type { Node } from "./node.js";

/** The programs whose habits decide something: Envoy, the clients of gRPC in any language, and all others. */
export type ClientKind = "envoy" | "grpc" | "other";

/** `gRPC Go`, `gRPC C-core …`, `gRPC Java`, `gRPC Node Pure JS`, `grpc-node`. */
const grpcAgent = /^grpc/i;

/**
 * The kind of program of a client, by its node's user agent. A client that gives none, or an unknown one, is `other`.
 */
export function clientKindOf({ userAgentName }: Pick<Node, "userAgentName">): ClientKind {
  if (userAgentName === "envoy") return "envoy";
  return grpcAgent.test(userAgentName) ? "grpc" : "other";
}

/**
 * The version of an Envoy, by its node's user agent (`user_agent_build_version`). Undefined for other clients, and for
 * an Envoy that gives no version or one that cannot be read.
 */
export function envoyVersionOf(node: Pick<Node, "userAgentName" | "userAgentVersion">): EnvoyVersion | undefined {
  return clientKindOf(node) === "envoy" ? parseEnvoyVersion(node.userAgentVersion) : undefined;
}

/** Tells whether a client is an Envoy of this version or a later one. */
export function isEnvoyFrom(
  node: Pick<Node, "userAgentName" | "userAgentVersion">,
  [major, minor]: readonly [major: number, minor: number],
): boolean {
  const version = envoyVersionOf(node);
  return version !== undefined && compareEnvoyVersions(version, { major, minor }) >= 0;
}
