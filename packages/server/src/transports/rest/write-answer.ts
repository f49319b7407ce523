import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from "node:http";
import type { BodyEncoding, PollAnswer, PollRefusal, SharedBody } from "../../contracts/poll-transport.js";
import { unreadMs } from "../../contracts/transport.js";

/** Smaller bodies are not worth compressing. */
const worthCompressing = 1_024;

/** Answers a request. `accepts` is its `Accept-Encoding`. */
export function writeAnswer(response: ServerResponse, answer: PollAnswer, accepts: string | undefined): void {
  if (response.destroyed || response.headersSent) return;
  response.setTimeout(unreadMs, () => response.destroy());
  switch (answer.kind) {
    case "response":
      writeBody(response, answer.body, accepts);
      break;
    case "not-modified":
      response.writeHead(304, common).end();
      break;
    case "refused":
      writeProblem(response, answer);
  }
}

/** An error as `application/problem+json` (RFC 9457). */
export function writeProblem(
  response: ServerResponse,
  { status, message, retryAfterS }: PollRefusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = problem(status, message);
  const fields: OutgoingHttpHeaders = {
    ...common,
    "content-type": "application/problem+json",
    "content-length": body.byteLength,
    ...headers,
  };
  if (retryAfterS !== undefined) fields["retry-after"] = String(retryAfterS);
  // The rest of the request is not read.
  if (status === 413 || status === 503) fields.connection = "close";
  response.writeHead(status, fields).end(body);
}

/** The body of an error answer. */
export function problem(status: number, detail: string): Buffer {
  const title = STATUS_CODES[status] ?? "Error";
  return Buffer.from(`${JSON.stringify({ type: "about:blank", title, status, detail })}\n`);
}

const common = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

function writeBody(response: ServerResponse, body: SharedBody, accepts: string | undefined): void {
  const write = (bytes: Uint8Array, encoding?: BodyEncoding) => {
    if (response.destroyed) return;
    response.writeHead(200, {
      ...common,
      "content-type": "application/json",
      "content-length": bytes.byteLength,
      vary: "accept-encoding",
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    });
    response.end(bytes);
  };
  const encoding = body.bytes.byteLength < worthCompressing ? undefined : accepted(accepts);
  if (encoding === undefined) write(body.bytes);
  else
    body.compressed(encoding).then(
      (bytes) => write(bytes, encoding),
      () => write(body.bytes),
    );
}

/** The best encoding that the client takes: `gzip;q=0` is a no, and `*` does not say enough. */
export function accepted(header = ""): BodyEncoding | undefined {
  const taken = new Set<string>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    if (!parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter))) taken.add(name);
  }
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : undefined;
}
