import { type Registry, validateMessage } from "@xdskit/api";
import type { CheckMessage } from "./contract.js";

/**
 * Checks messages by the rules of their protos, and nothing else. `registry` finds the messages; Envoy's by default.
 */
export function createStandardCheck(registry?: Registry): CheckMessage {
  return (type, name, message) =>
    validateMessage(message, { registry }).map((finding) => ({ ...finding, type: type.name, resource: name }));
}
