import type { FindingJson, Problem } from "./types.js";

/** The API said no, and why. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly findings: readonly FindingJson[];

  constructor(status: number, message: string, findings: readonly FindingJson[] = []) {
    super(message);
    this.status = status;
    this.findings = findings;
  }
}

/** What a change is sent with. */
export interface SendOptions {
  readonly contentType?: "application/json" | "application/yaml";
  /** The revision that the layer must have; null: it must have none. Undefined: any. */
  readonly ifMatch?: string | null | undefined;
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
  // Nothing there is a state, too, which somebody may have changed.
  if (ifMatch === null) headers["if-none-match"] = "*";
  else if (ifMatch !== undefined) headers["if-match"] = `"${ifMatch}"`;
  return read<T>(await sent(`${base}${path}`, { method: "POST", headers, body: body ?? null }));
}

/** Nobody sends a change again without being asked: whether it was made is not known. */
async function sent(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch {
    throw new ApiError(0, "The server did not answer. Look whether it was done before you try again.");
  }
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
