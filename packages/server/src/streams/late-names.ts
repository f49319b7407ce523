import type { ResourceName } from "@xdskit/api";
import { type ResourceError, statusCode } from "@xdskit/protocol";

/**
 * The errors, for clients that understand them, of names without a decision in time; others take the names for absent.
 * The cause is for the operator (the event `on-demand`): a supplier's error may hold details that clients must not see.
 */
export function errorsOfLate(names: Iterable<ResourceName>): readonly ResourceError[] {
  const message = "it could not be supplied in time; it is sent as soon as it is there";
  // The client keeps its resource.
  return errorsOf(names, statusCode.unavailable, message);
}

/** The error, for clients that understand it, of names beyond the limit; others take them for absent. */
export function errorsOfRefused(names: Iterable<ResourceName>): readonly ResourceError[] {
  const message = "clients ask this server for more names than it looks for: ask again later";
  return errorsOf(names, statusCode.resourceExhausted, message);
}

function errorsOf(names: Iterable<ResourceName>, code: number, message: string): readonly ResourceError[] {
  return Array.from(names, (name) => ({ name, code, message }));
}
