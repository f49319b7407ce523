import type { ResourceName } from "@xdskit/api";
import { type ResourceError, statusCode } from "@xdskit/protocol";

/**
 * What clients that understand errors are told of names on which nothing was decided in time; others take them for absent. What went wrong is
 * for the operator (the event `on-demand`): an error of the supplier's may hold what clients are not to know.
 */
export function errorsOfLate(names: Iterable<ResourceName>): readonly ResourceError[] {
  const message = "it could not be supplied in time; it is sent as soon as it is there";
  // What a client has stays good.
  return errorsOf(names, statusCode.unavailable, message);
}

/** What clients that understand errors are told of names beyond the limit; others take them for absent. */
export function errorsOfRefused(names: Iterable<ResourceName>): readonly ResourceError[] {
  const message = "clients ask this server for more names than it looks for: ask again later";
  return errorsOf(names, statusCode.resourceExhausted, message);
}

function errorsOf(names: Iterable<ResourceName>, code: number, message: string): readonly ResourceError[] {
  return Array.from(names, (name) => ({ name, code, message }));
}
