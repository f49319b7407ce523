import type { Finding } from "@xdskit/api";
import { type ApiAnswer, RequestTimeout } from "./http-request.js";

interface ApiErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly findings?: readonly Finding[] | undefined;
}

/** The refusal of a request by a server, or the reason why it could not be asked. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP's; undefined: there was no answer. */
  readonly status: number | undefined;
  /** `XDSKIT_…`, if the server named one. */
  readonly code: string | undefined;
  /** The errors in the request. */
  readonly findings: readonly Finding[];

  constructor(message: string, { status, code, findings = [] }: ApiErrorDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.findings = findings;
  }
}

/** Why there is no answer. */
export function unreachable(server: string, error: unknown, timeoutMs: number): ApiError {
  if (error instanceof RequestTimeout) return new ApiError(`${server} did not answer within ${timeoutMs / 1000} s`);
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "ECONNRESET")
    return new ApiError(
      `${server} ended the connection before it answered: it may stop or start just now, or it is no admin address`,
    );
  if (code.startsWith("HPE_"))
    return new ApiError(`${server} does not speak HTTP/1.1: is it the admin address of a server? serve prints it`);
  if (code === "ECONNREFUSED")
    return new ApiError(
      `no server runs at ${server}: start one with "xdskit serve DIR", or name its admin address with --server`,
    );
  return new ApiError(`${server} cannot be reached: ${message} (--server names a server's admin address)`);
}

/** The problem that a server describes (RFC 9457), or what else it says. */
export function problemOf(server: string, { status, contentType, body }: ApiAnswer): ApiError {
  const problem = contentType.includes("json") ? parsed(body) : undefined;
  if (problem === undefined) {
    // What is not ready says why in further lines; what is no server of ours may answer with a page.
    const most = contentType.startsWith("text/plain") ? 10 : 1;
    const said = body.trimEnd().split("\n", most);
    const hint = status === 404 ? "; is it the admin address of a server of this version?" : "";
    return new ApiError(
      `${server} answers ${status}: ${said.map((line) => line.trim().slice(0, 200)).join("; ")}${hint}`,
      { status },
    );
  }
  const { title, detail, code, findings } = problem;
  const text = `${detail ?? title ?? `it answers ${status}`}${code === undefined ? "" : ` [${code}]`}`;
  return new ApiError(text, { status, code, findings: Array.isArray(findings) ? findings.map(withoutBody) : [] });
}

interface AnsweredProblem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly findings?: unknown;
}

/** The lines of a request's body are lines that nobody sees. */
function withoutBody({ file, line, column, ...finding }: Finding): Finding {
  return file === "body" ? finding : { ...finding, file, line, column };
}

function parsed(body: string): AnsweredProblem | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
