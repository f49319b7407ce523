import type { ResourceType } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";

/**
 * Whether a delta client must not hear that a resource does not exist (Envoy on the wire, 8). Others are told (rule
 * 91).
 */
export function isAbsenceUnreported({ absenceUnreportedTo }: ResourceType, { userAgentName }: Node): boolean {
  return absenceUnreportedTo.includes(userAgentName);
}
