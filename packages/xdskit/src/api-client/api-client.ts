import type { PostAnswers, ReadAnswers } from "@xdskit/admin/answers";
import { ApiError, problemOf, unreachable } from "./api-error.js";
import type { ApiServer } from "./api-server.js";
import { credentialsOf } from "./credentials.js";
import { type ApiAnswer, sendRequest } from "./http-request.js";

/** A running server's HTTP API. */
export interface ApiClient {
  /** Its address as the user named it, without a password, for messages. */
  readonly server: string;
  /** Resolves to the JSON of the answer of a route of the API's document. Rejects with an ApiError. */
  get<Path extends keyof ReadAnswers>(path: Path, ...call: CallOf<Path>): Promise<ReadAnswers[Path]>;
  /** The same for a page that is not JSON, such as that of the metrics. */
  text(path: string): Promise<string>;
  post<Path extends keyof PostAnswers>(path: Path, ...call: CallOf<Path>): Promise<PostAnswers[Path]>;
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
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long it may take instead of the usual time, in milliseconds. */
  readonly withinMs?: number | undefined;
}

/** The names in braces of a path. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A path with names in braces needs what stands there. */
type CallOf<Path extends string> = [NamesIn<Path>] extends [never]
  ? [call?: ApiCall]
  : [call: ApiCall & { readonly at: { readonly [Name in NamesIn<Path>]: string } }];

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
    { at = {}, query = {}, body, headers, withinMs: timeoutMs = usualMs }: ApiCall & { readonly at?: object } = {},
  ): Promise<string> => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(at[name as keyof typeof at]));
    const url = socketPath === undefined ? below(server, filled) : new URL(filled, "http://localhost");
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
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
    get: (path, ...[call]) => ask("GET", path, call),
    text: (path: string) => send("GET", path),
    post: (path, ...[call]) => ask("POST", path, call),
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
