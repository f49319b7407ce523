import { type Finding, messageOf, XdskitError, type XdskitErrorCode } from "@xdskit/api";

/** A problem document (RFC 9457) with our codes and findings. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: XdskitErrorCode;
  readonly findings: readonly Finding[];
  /** More for some codes, such as the newest revision. */
  readonly [extension: string]: unknown;
}

/** An answer that is a problem. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  readonly findings: readonly [Finding, ...Finding[]];
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    findings: readonly [Finding, ...Finding[]],
    extensions: Readonly<Record<string, unknown>> = {},
  ) {
    super(findings[0].message);
    this.status = status;
    this.findings = findings;
    this.extensions = extensions;
  }

  /** A problem with one finding. */
  static of(
    status: number,
    code: XdskitErrorCode,
    message: string,
    extensions: Readonly<Record<string, unknown>> = {},
  ): ApiProblem {
    return new ApiProblem(status, [{ code, severity: "error", message }], extensions);
  }
}

const titles: Readonly<Record<number, string>> = {
  400: "The request cannot be understood",
  401: "The caller is not known",
  403: "The caller is not answered",
  404: "Not found",
  405: "The method is not allowed here",
  408: "The body comes too slowly",
  409: "The request does not fit the state of the server",
  412: "It has changed in between",
  413: "The body is too large",
  415: "The body has a type that is not read",
  422: "The change is refused",
  429: "Too many requests of this kind",
  500: "A fault of the server",
  503: "The server cannot do it now",
};

/** The status of errors that the request did not cause. Others are 422. */
const statuses: Partial<Record<XdskitErrorCode, number>> = {
  XDSKIT_API_REQUEST: 400,
  XDSKIT_SYNTAX: 400,
  XDSKIT_STORE: 503,
  XDSKIT_SERVER_CLOSED: 503,
  XDSKIT_BUSY: 503,
  XDSKIT_REVISION_UNKNOWN: 404,
  XDSKIT_LAYER_UNKNOWN: 404,
  XDSKIT_LEASE_UNKNOWN: 404,
  XDSKIT_LAYER_READ_ONLY: 409,
  XDSKIT_REVISION_CONFLICT: 412,
};

/** The problem that answers a thrown error. */
export function problemOf(error: unknown): ProblemDocument {
  if (error instanceof ApiProblem) return problemDocument(error.status, error.findings, error.extensions);
  if (error instanceof XdskitError) {
    const { findings } = error;
    const [first] = findings;
    if (first !== undefined) return problemDocument(statuses[first.code] ?? 422, [first, ...findings.slice(1)]);
  }
  const message = messageOf(error);
  return problemDocument(500, [{ code: "XDSKIT_FAULT", severity: "error", message }]);
}

/**
 * Makes a problem document. `extensions` are further members. A status without a title of its own is called
 * "The request failed".
 */
export function problemDocument(
  status: number,
  findings: readonly [Finding, ...Finding[]],
  extensions: Readonly<Record<string, unknown>> = {},
): ProblemDocument {
  const [{ code, message }] = findings;
  const more = findings.length === 1 ? "" : ` (and ${findings.length - 1} more)`;
  const title = titles[status] ?? "The request failed";
  return { ...extensions, type: `urn:xdskit:${code}`, title, status, detail: `${message}${more}`, code, findings };
}
