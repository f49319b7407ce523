import { ApiError, problemOf, unreachable } from "./api-error.js";
import type { ApiServer } from "./api-server.js";
import { credentialsOf } from "./credentials.js";
import { type ApiAnswer, sendRequest } from "./http-request.js";

/** A running server's HTTP API. */
export interface ApiClient {
  /** Its address as the user named it, without a password, for messages. */
  readonly server: string;
  /** Resolves to the JSON of the answer. Rejects with an ApiError. `withinMs`: not the usual time. */
  get<T>(path: string, withinMs?: number): Promise<T>;
  /** The same for a page that is not JSON, such as that of the metrics. */
  text(path: string): Promise<string>;
  post<T>(path: string, body?: object, headers?: ApiCall["headers"]): Promise<T>;
  /** Ends connections that are still open. */
  close(): void;
}

/** Where the API is, and how long it may take to answer. */
export interface ApiClientOptions {
  readonly server: ApiServer;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/** What a request may have besides its path. */
interface ApiCall {
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly withinMs?: number | undefined;
}

/** Speaks to a server's API. Connects with the first request. */
export function createApiClient({ server: asked, timeoutMs: usualMs }: ApiClientOptions): ApiClient {
  const { url: server } = asked;
  const credentials = credentialsOf(asked);
  const shown = shownUrl(server);
  const socketPath = server.protocol === "unix:" ? decodeURIComponent(server.pathname) : undefined;
  const closed = new AbortController();
  const send = async (
    method: "GET" | "POST",
    path: string,
    { body, headers, withinMs: timeoutMs = usualMs }: ApiCall = {},
  ): Promise<string> => {
    const url = socketPath === undefined ? below(server, path) : new URL(path, "http://localhost");
    const proof = await credentials();
    let answer: ApiAnswer;
    try {
      const sent = { url, socketPath, method, body, timeoutMs, signal: closed.signal, tls: proof.tls };
      answer = await sendRequest({ ...sent, headers: { ...headers, ...proof.headers } });
    } catch (error) {
      throw unreachable(shown, error, timeoutMs);
    }
    if (answer.status >= 300) throw problemOf(shown, answer);
    return answer.body;
  };
  const ask = async <T>(...asked: Parameters<typeof send>): Promise<T> => {
    const body = await send(...asked);
    try {
      return JSON.parse(body) as T;
    } catch {
      throw new ApiError(`${shown} answers with something else than JSON: is it the admin address of a server?`);
    }
  };
  return {
    server: shown,
    get: <T>(path: string, withinMs?: number) => ask<T>("GET", path, { withinMs }),
    text: (path: string) => send("GET", path),
    post: <T>(path: string, body?: object, headers?: ApiCall["headers"]) => ask<T>("POST", path, { body, headers }),
    close: () => closed.abort(),
  };
}

function below(server: URL, path: string): URL {
  return new URL(`${server.pathname.replace(/\/$/, "")}${path}`, server);
}

/** A name and a password in a URL are for the server alone. */
function shownUrl(server: URL): string {
  const shown = new URL(server);
  shown.username = "";
  shown.password = "";
  return shown.href.replace(/\/$/, "");
}
