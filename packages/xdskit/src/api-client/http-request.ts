import type { IncomingMessage, RequestOptions } from "node:http";
import type { TlsOptions } from "node:tls";
import { maxWholeAnswer, stringifyJson } from "@xdskit/api";
import { boundedBytes } from "../files/bounded-bytes.js";

/** One request. */
export interface ApiRequest {
  readonly url: URL;
  /** The Unix socket at which the server listens; undefined: it is at the URL's host. */
  readonly socketPath?: string | undefined;
  readonly method: "GET" | "POST";
  /** Sent as JSON. */
  readonly body: object | undefined;
  /** The certificates of a connection over TLS. */
  readonly tls?: Pick<TlsOptions, "ca" | "cert" | "key"> | undefined;
  /** Besides those that every request has. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came back. */
export interface ApiAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** The time was over before the answer was there. */
export class RequestTimeout extends Error {}

/** Sends a request and reads the answer. Rejects with the system's error, or a RequestTimeout. */
export async function sendRequest(asked: ApiRequest): Promise<ApiAnswer> {
  const { url, socketPath, tls, method, body, headers, timeoutMs, signal } = asked;
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const text = body === undefined ? undefined : stringifyJson(body);
  const time = AbortSignal.timeout(timeoutMs);
  const options: RequestOptions = {
    method,
    ...tls,
    ...(socketPath === undefined ? {} : { socketPath }),
    headers: {
      ...headers,
      accept: "application/json",
      ...(text === undefined
        ? { "content-length": 0 }
        : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    },
    agent: false,
    signal: AbortSignal.any([signal, time]),
  };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(time.aborted ? new RequestTimeout() : error);
    request(url, options, (response) => {
      readAnswer(response).then(resolve, fail);
    })
      .on("error", fail)
      .end(text);
  });
}

async function readAnswer(response: IncomingMessage): Promise<ApiAnswer> {
  const body = await boundedBytes(response, maxWholeAnswer);
  if (body === undefined) throw new Error(`it answers with more than ${maxWholeAnswer} bytes`);
  const { statusCode: status = 0, headers } = response;
  return { status, contentType: headers["content-type"] ?? "", body: body.toString("utf8") };
}
