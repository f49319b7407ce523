import { type Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as tlsRequest } from "node:https";
import { maxBody, maxSmallBody, systemClock, XdskitError } from "@xdskit/api";
import { hostOf } from "@xdskit/server/address";
import type { KubernetesConnection } from "../connection/connection.js";
import { KubernetesApiError } from "./api-error.js";

/** How long a server may take to begin its answer, in milliseconds. */
const answerMs = 15_000;

/** Asks the API server for a document. Rejects with an ApiError for what the server refuses. */
export async function getJson(connection: KubernetesConnection, path: string, signal: AbortSignal): Promise<unknown> {
  return await sendJson(connection, { method: "GET", path }, signal);
}

/** A request for one answer. */
export interface KubernetesRequest {
  readonly method: "GET" | "POST" | "PATCH";
  /** With the query. */
  readonly path: string;
  /** Undefined: none. Of a PATCH it is a merge patch. */
  readonly body?: object | undefined;
  /** Keeps connections, over which a request may be sent twice. Undefined: each request has one of its own. */
  readonly agent?: Agent | undefined;
}

/** Sends a document, and resolves to that of the answer. Rejects with an ApiError for what the server refuses. */
export async function sendJson(
  connection: KubernetesConnection,
  request: KubernetesRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await open(connection, request, signal);
  return parsed(await readText(response, maxBody, signal));
}

/** The events of a watch. */
export interface LinesOptions {
  readonly signal: AbortSignal;
  /** A stream that says nothing for this long ends, in milliseconds. */
  readonly silenceMs: number;
  /** The server has answered. */
  readonly opened: () => void;
  readonly line: (value: unknown) => void;
}

/**
 * Reads a stream of JSON, a document a line, until the server ends it or falls silent. Rejects with an ApiError for
 * what the server refuses, and with what `line` throws.
 */
export async function readLines(connection: KubernetesConnection, path: string, options: LinesOptions): Promise<void> {
  const response = await open(connection, { method: "GET", path }, options.signal);
  options.opened();
  let isSilent = false;
  const silent = () => {
    isSilent = true;
    response.destroy();
  };
  let forget = systemClock.after(options.silenceMs, silent);
  const lines = new Lines(options.line);
  try {
    for await (const chunk of response) {
      forget();
      lines.take(chunk as Buffer);
      forget = systemClock.after(options.silenceMs, silent);
    }
  } catch (error) {
    if (!isSilent) throw error;
  } finally {
    forget();
    response.destroy();
  }
}

/** Splits what comes into lines. Each has a limit. */
class Lines {
  readonly #line: (value: unknown) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(line: (value: unknown) => void) {
    this.#line = line;
  }

  take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end));
      const text = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#bytes = 0;
      if (text !== "") this.#line(parsed(text));
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > maxBody) throw tooLarge(maxBody);
    this.#parts.push(part);
  }
}

const contentTypes = { GET: undefined, POST: "application/json", PATCH: "application/merge-patch+json" } as const;

async function open(
  connection: KubernetesConnection,
  { method, path, body, agent }: KubernetesRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { server, isChecked, serverName } = connection;
  signal.throwIfAborted();
  const { token, cert, key, ca } = await untilAborted(connection.credentials(signal), signal);
  const base = server.pathname.replace(/\/$/, "");
  const options: RequestOptions = {
    method,
    path: base + path,
    signal,
    hostname: hostOf(server),
    port: server.port,
    headers: {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": contentTypes[method] }),
    },
  };
  const tls = {
    rejectUnauthorized: isChecked,
    ca,
    cert,
    key,
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
  const answerOver = async (agent: Agent | false): Promise<IncomingMessage> =>
    await new Promise<IncomingMessage>((resolve, reject) => {
      const own = { ...options, agent };
      const request = server.protocol === "http:" ? plainRequest(own) : tlsRequest({ ...own, ...tls });
      const late = () => request.destroy(new Error(`no answer within ${answerMs / 1000} s`));
      const forget = systemClock.after(answerMs, late);
      request.on("response", (answer) => {
        forget();
        resolve(answer);
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        forget();
        // The server may have ended a connection that was kept just then.
        if (request.reusedSocket && error.code === "ECONNRESET") resolve(answerOver(false));
        else reject(error);
      });
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const response = await answerOver(agent ?? false);
  const { statusCode: status = 0, headers } = response;
  if (status === 200 || status === 201) return response;
  if (status === 401) connection.refused();
  const text = await readText(response, maxSmallBody, signal).catch(() => "");
  throw new KubernetesApiError(status, text, headers["retry-after"]);
}

/** Rejects at once if the signal is aborted, whatever the promise does. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener("abort", abort, { once: true });
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

async function readText(response: IncomingMessage, most: number, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  const late = () => response.destroy(new Error(`the answer did not end within ${answerMs / 1000} s of silence`));
  let forget = systemClock.after(answerMs, late);
  try {
    for await (const chunk of response) {
      signal.throwIfAborted();
      forget();
      bytes += (chunk as Buffer).length;
      if (bytes > most) throw tooLarge(most);
      parts.push(chunk as Buffer);
      forget = systemClock.after(answerMs, late);
    }
  } finally {
    forget();
    response.destroy();
  }
  return Buffer.concat(parts).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw XdskitError.of("XDSKIT_KUBERNETES", "what the API server sends is no JSON", {}, { cause });
  }
}

function tooLarge(most: number): XdskitError {
  return XdskitError.of("XDSKIT_KUBERNETES", `the API server sends more than ${most} bytes at once`);
}
