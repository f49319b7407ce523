import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  validateHeaderName,
  validateHeaderValue,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type Clock, XdskitError } from "@xdskit/api";
import { explainHandshake } from "@xdskit/api/tls-files";
import { readToken, refuseTokenInPlaintext } from "../../credentials/call-headers.js";
import { httpsOptionsOf } from "../../credentials/https-options.js";
import { awayError } from "../../errors/client-errors.js";
import type { RestServerSettings } from "../../options/client-options.js";
import { acceptedEncodings, readBody } from "./read-body.js";

/** The answer of a server. */
export interface HttpAnswer {
  readonly status: number;
  /** Such as `Service Unavailable`. */
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface PostOptions {
  readonly signal: AbortSignal;
  /** The server answered the poll before, or this one claims a version: it may hold it until something changes. */
  readonly mayBeParked: boolean;
}

export interface PosterOptions {
  readonly settings: RestServerSettings;
  readonly clock: Clock;
  /** Bytes of an answer. */
  readonly limit: number;
}

const defaultTimeoutMs = 5_000;
/** A server that holds polls (rule 143) may be silent for any time; a lost connection shows that it is gone. */
const parkedTimeoutMs = 60_000;

/** Tokens that an answer may still quote: polls end, and files are not replaced so often meanwhile. */
const keptTokens = 10;

/** Sends POSTs to one server, over connections that stay open. */
export interface Poster {
  /** The URL, without its secrets. */
  readonly server: string;
  /**
   * Rejects with an XdskitError (no connection, no answer in time, an answer that is too large) or with the signal's
   * reason.
   */
  post(path: string, body: Buffer, options: PostOptions): Promise<HttpAnswer>;
  /** The server's words without the secrets that the client itself sends. */
  withoutSecrets(text: string): string;
  close(): void;
}

/** Throws an XdskitError for an invalid URL, header or TLS setting. */
export function createPoster({ settings, clock, limit }: PosterOptions): Poster {
  const url = urlOf(settings.url);
  const isTls = url.protocol === "https:";
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const tls = httpsOptionsOf(settings);
  const { tokenFile } = settings;
  refuseTokenInPlaintext(tokenFile, url.host, isTls);
  const own = headersOf(settings.headers ?? {}, url);
  const base = url.pathname.replace(/\/+$/, "");
  const server = `${url.origin}${base}`;
  /** The newest last. An answer may come to a poll that carried an earlier one. */
  const tokens = new Set<string>();
  // An answer may quote only the token of `Bearer TOKEN`.
  const secrets = () => [
    ...[...Object.values(own), ...tokens].flatMap((value) => [value, ...value.split(" ").slice(1)]),
    url.password,
    decoded(url.password),
  ];

  function carried(token: string): string {
    tokens.delete(token);
    tokens.add(token);
    const [oldest = ""] = tokens;
    if (tokens.size > keptTokens) tokens.delete(oldest);
    return token;
  }

  async function post(path: string, body: Buffer, signal: AbortSignal): Promise<HttpAnswer> {
    const options = await tls();
    const token = tokenFile === undefined ? {} : { authorization: carried(await readToken(tokenFile)) };
    const headers = {
      accept: "application/json",
      "accept-encoding": acceptedEncodings,
      ...own,
      ...token,
      "content-type": "application/json",
      "content-length": String(body.length),
    };
    const where = { protocol: url.protocol, hostname: hostname(url), port: url.port, path: `${base}${path}` };
    const send = (): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const all = { ...where, ...options, agent, method: "POST", headers, signal };
        const outgoing = isTls ? httpsRequest(all) : httpRequest(all);
        outgoing.on("response", resolve);
        outgoing.on("error", (error: NodeJS.ErrnoException) => {
          // A server may close an idle connection at the moment when it is used again.
          if (outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE") && !signal.aborted) {
            send().then(resolve, reject);
          } else {
            reject(error);
          }
        });
        outgoing.end(body);
      });
    const answer = await send();
    try {
      const { statusCode: status = 0, statusMessage: statusText = "", headers: answered } = answer;
      return { status, statusText, headers: answered, body: await readBody(answer, limit) };
    } catch (error) {
      answer.destroy();
      throw error;
    }
  }

  return {
    server,
    async post(path: string, body: Buffer, { signal, mayBeParked }: PostOptions): Promise<HttpAnswer> {
      const { requestTimeoutMs: timeoutMs = mayBeParked ? parkedTimeoutMs : defaultTimeoutMs } = settings;
      const late = new AbortController();
      const stop = clock.after(timeoutMs, () => late.abort());
      try {
        return await post(path, body, AbortSignal.any([signal, late.signal]));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (late.signal.aborted) throw awayError(server, `no answer within ${timeoutMs} ms (requestTimeoutMs)`);
        if (error instanceof XdskitError) throw error;
        const { code = "" } = error as NodeJS.ErrnoException;
        if (isTls && /^(ERR_(SSL|TLS)|CERT_|UNABLE_|DEPTH_|SELF_|EPROTO)/.test(code)) {
          throw explainHandshake(error, server, undefined);
        }
        throw awayError(server, reasonOf(error));
      } finally {
        stop();
      }
    },
    withoutSecrets: (text: string): string => shown(text, secrets()),
    close: () => agent.destroy(),
  };
}

function urlOf(text: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // The error below does not quote the URL: it may hold a password.
  }
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw XdskitError.of("XDSKIT_CLIENT_OPTION", "the URL of a REST server is http://HOST:PORT or https://HOST:PORT", {
      field: "url",
    });
  }
  return url;
}

function headersOf(settings: Readonly<Record<string, string>>, url: URL): Record<string, string> {
  const headers: Record<string, string> = {};
  if (url.username !== "" || url.password !== "") {
    const login = `${decoded(url.username)}:${decoded(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(login).toString("base64")}`;
  }
  for (const [name, value] of Object.entries(settings)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      const message = `the header ${JSON.stringify(name.slice(0, 100))} has an invalid name or value`;
      throw XdskitError.of("XDSKIT_CREDENTIALS", message, { field: "headers" });
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** A name or a password of a URL; a bare `%` in it stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shown(text: string, secrets: readonly string[]): string {
  // A shorter text is not a secret, and hiding it would break words.
  const hidden = secrets.filter((secret) => secret.length >= 4);
  return hidden.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
}

/** Without the brackets of IPv6. */
function hostname(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

function reasonOf(error: unknown): string {
  // A name with several addresses fails with one error for each, and without a message.
  const { errors } = error as AggregateError;
  const one = Array.isArray(errors) && errors.length > 0 ? errors[0] : error;
  const { code, message } = one as NodeJS.ErrnoException;
  if (code === "HPE_INVALID_CONSTANT")
    return "it does not speak HTTP/1: is this the address for REST? For gRPC write HOST:PORT, without http://";
  return message === "" ? (code ?? "the connection failed") : message;
}
