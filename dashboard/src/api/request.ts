import type { Finding, Problem } from "./types.js";

/** The API said no, and why. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly findings: readonly Finding[];

  constructor(status: number, message: string, findings: readonly Finding[] = []) {
    super(message);
    this.status = status;
    this.findings = findings;
  }
}

/** What a change is sent with. */
export interface SendOptions {
  readonly contentType?: "application/json" | "application/yaml";
  /** The revision that the layer must have. */
  readonly ifMatch?: string | undefined;
}

/** Paths are relative: the page may stand below a path of a proxy. */
const base = "api/v1/";

/** Asks the API. `path` is what comes after `/api/v1/`. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return read<T>(await fetch(`${base}${path}`, { signal: signal ?? null, headers: { accept: "application/json" } }));
}

/** Changes something. The header says that this page asks: pages of other sites may not send it. */
export async function post<T>(path: string, body?: string, options: SendOptions = {}): Promise<T> {
  const { contentType = "application/json", ifMatch } = options;
  const headers: Record<string, string> = { "x-xdskit-dashboard": "1" };
  if (body !== undefined) headers["content-type"] = contentType;
  if (ifMatch !== undefined) headers["if-match"] = `"${ifMatch}"`;
  return read<T>(await fetch(`${base}${path}`, { method: "POST", headers, body: body ?? null }));
}

/** The parts of a path, encoded. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join("/");
}

async function read<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  const type = response.headers.get("content-type") ?? "";
  if (!type.includes("problem+json")) throw new ApiError(response.status, (await response.text()).trim());
  const { detail, findings } = (await response.json()) as Problem;
  throw new ApiError(response.status, detail, findings);
}
