import type { ResourceType } from "@xdskit/api";
import type { Node } from "../node.js";

/**
 * Whether a delta client is better off without hearing that a resource does not exist. Envoy stops its timer when a route configuration is
 * reported as removed, and its listener then waits for the routes for ever; unanswered it goes on after 15 s and serves 404 until
 * they come (Envoy on the wire, 8). Others are told (rule 91).
 */
export function isAbsenceUnsaid(type: ResourceType, node: Node): boolean {
  return type.abbreviation === "rds" && node.userAgentName === "envoy";
}
