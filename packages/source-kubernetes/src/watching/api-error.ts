/** An answer of the API server that is no success. */
export class KubernetesApiError extends Error {
  override readonly name = "KubernetesApiError";
  /** The status of HTTP, or what an event of a watch says instead. */
  readonly status: number;
  /** After how many milliseconds the server wants to be asked again; undefined: it does not say. */
  readonly retryAfterMs: number | undefined;

  /** `body`: a `Status` of Kubernetes. */
  constructor(status: number, body: string, retryAfter?: string | undefined) {
    const seconds = Number(retryAfter ?? Number.NaN);
    super(reasonIn(body) ?? `it answers ${status}`);
    this.status = status;
    this.retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 60) * 1_000 : undefined;
  }

  /** The state that a list or a watch is to go on from is gone: it must be read whole. */
  get isExpired(): boolean {
    return this.status === 410;
  }
}

function reasonIn(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === "string" && message !== "" ? message : undefined;
  } catch {
    return undefined;
  }
}
