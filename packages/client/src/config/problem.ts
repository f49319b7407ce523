import { type ResourceName, XdskitError } from "@xdskit/api";
import type { LeafType } from "./leaf.js";

/** A resource was received, but a part of the configuration cannot be resolved from it. */
export function unresolved(message: string, type: LeafType, resource: ResourceName, field?: string): XdskitError {
  return XdskitError.of("XDSKIT_CONFIG_UNRESOLVED", message, { type, resource, field });
}
