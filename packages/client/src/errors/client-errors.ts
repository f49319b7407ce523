import {
  describe,
  type Finding,
  type ResourceName,
  type ResourceType,
  redactErrorText,
  XdskitError,
} from "@xdskit/api";
import type { BadResource, ResourceError, ResourceUpdate } from "@xdskit/protocol";

/**
 * A server cannot be reached, or ended a stream without an answer. `why` holds no secret. The cause of a stream's error
 * has gRPC's `code` and `message`.
 */
export function awayError(server: string, why: string, options?: ErrorOptions): XdskitError {
  return XdskitError.of("XDSKIT_UPSTREAM_AWAY", `${server}: ${why}`, {}, options);
}

/** A resource does not exist, or was removed. */
export function absentError(
  type: ResourceType,
  name: ResourceName,
  reason: (ResourceUpdate["absent"] | ResourceUpdate["removed"])[number]["reason"],
  reported?: ResourceError,
): XdskitError {
  const message =
    reported === undefined
      ? absences[reason]
      : `the server says: ${redactErrorText(reported.message)} (code ${reported.code})`;
  return XdskitError.of("XDSKIT_RESOURCE_ABSENT", message, { type: type.name, resource: name });
}

const absences = {
  timer: "it does not exist: the server did not answer in time",
  told: "it does not exist, the server says",
  removed: "it exists no more",
  rejected: "its last update was rejected, and the content before that must not be used",
  ttl: "its time to live is over, and the server did not send it again",
} as const;

/** The server cannot give a resource now. */
export function failingError(type: ResourceType, { name, code, message }: ResourceError): XdskitError {
  const text = `the server cannot give it: ${redactErrorText(message)} (code ${code})`;
  return XdskitError.of("XDSKIT_RESOURCE_FAILING", text, { type: type.name, resource: name });
}

/** The client rejected a resource, or a whole response. */
export function rejectedError(type: ResourceType, message: string, bad: BadResource | undefined): XdskitError {
  const where = { type: type.name, resource: bad?.name };
  const causes = bad?.findings.filter(({ severity }) => severity === "error") ?? [];
  const first: Finding = { code: "XDSKIT_UPDATE_REJECTED", severity: "error", message, ...where };
  if (causes.length === 0) return new XdskitError([first]);
  const why = causes.map((finding) => describe({ ...finding, type: undefined, resource: undefined }));
  return new XdskitError([{ ...first, message: why[0] ?? message }, ...causes]);
}
