import {
  type Finding,
  listNames,
  type ResourceName,
  type ResourceType,
  redactErrorText,
  XdskitError,
} from "@xdskit/api";
import { rejectionReasons } from "../../model/basics/limits.js";

/** The fault of one resource of a response; `name` is undefined if it could not be read. */
export interface BadResource {
  readonly name: ResourceName | undefined;
  /** At least one. Never holds the value of a secret. */
  readonly findings: readonly Finding[];
}

/** Why a resource is bad, as one finding. */
export function badResource(
  type: ResourceType,
  name: ResourceName | undefined,
  code: Finding["code"],
  message: string,
): BadResource {
  return { name, findings: [{ code, severity: "error", message, type: type.name, resource: name }] };
}

/** The findings in an error that reading a message threw. */
export function findingsOf(type: ResourceType, name: ResourceName | undefined, error: unknown): BadResource {
  if (error instanceof XdskitError) return { name, findings: error.findings };
  const reason = redactErrorText(error instanceof Error ? error.message : String(error));
  return badResource(type, name, "XDSKIT_SYNTAX", `not a serialized ${type.typeUrl.replace(/^.*\//, "")}: ${reason}`);
}

const cut = "...(truncated)";

/**
 * The text for `error_detail`: the wrong fields of the first few resources, and why they are wrong. It has the form of
 * gRPC's C++ client. Servers and people know this form, and it says that everything else was taken (gRFC A46). Bounded,
 * and without secrets.
 */
export function rejectionText(
  bad: readonly (BadResource & { readonly index?: number | undefined })[],
  most: number,
): string {
  const start = "xDS response validation errors: [";
  let text = start;
  for (const [place, { index, name, findings }] of bad.entries()) {
    const which = `${index === undefined ? "" : `resource index ${index}: `}${name === undefined ? "" : `${name}: `}`;
    const reported = `${which}INVALID_ARGUMENT: ${reasonsOf(findings)}`;
    const part = `${place === 0 ? "" : "; "}${reported}`;
    if (text.length + part.length + cut.length + 1 > most) {
      // Of one that is too long at least the beginning.
      const room = Math.max(0, most - text.length - cut.length);
      return `${text}${place === 0 ? part.slice(0, room) : ""}${cut}`;
    }
    text += part;
  }
  return `${text}]`;
}

/** The faults of one resource, in one line without secrets. */
export function reasonsOf(findings: readonly Finding[]): string {
  const errors = findings.filter(({ severity }) => severity === "error");
  const reported = errors.slice(0, rejectionReasons.count).map(({ field, message, rule }) => {
    const reason = `${field === undefined || field === "" ? "" : `${field}: `}${message}${rule === undefined ? "" : ` (${rule})`}`;
    return reason.length > rejectionReasons.characters ? `${reason.slice(0, rejectionReasons.characters)}…` : reason;
  });
  return redactErrorText(listNames(reported, reported.length, errors.length));
}
