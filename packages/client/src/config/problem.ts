import { type ResourceName, XdskitError } from "@xdskit/api";
import type { LeafType } from "./leaf.js";

/** That something of a configuration cannot be resolved though it was received. */
export function unresolved(message: string, type: LeafType, resource: ResourceName, field?: string): XdskitError {
  return XdskitError.of("XDSKIT_CONFIG_UNRESOLVED", message, { type, resource, field });
}
