import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { XdskitError } from "@xdskit/api";

type BodyDecompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decompressors: Readonly<Record<string, BodyDecompress>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The supported encodings, for the request's `accept-encoding`. */
export const acceptedEncodings = "gzip, deflate, br";

/**
 * Reads an answer's body of at most `limit` bytes, before and after decompression. Rejects with an XdskitError if it is
 * larger (XDSKIT_CLIENT_LIMIT) or does not match its content encoding (XDSKIT_POLL_FAILED), and with the connection's
 * error.
 */
export async function readBody(answer: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = (answer.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decompress = Object.hasOwn(decompressors, encoding) ? decompressors[encoding] : undefined;
  if (decompress === undefined && encoding !== "identity") {
    throw refusal(`the answer's content encoding ${JSON.stringify(encoding.slice(0, 100))} is not known`);
  }
  const raw = await readRaw(answer, limit);
  if (decompress === undefined || raw.length === 0) return raw;
  try {
    return await decompress(raw, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limit);
    throw refusal(`the answer is not ${encoding}, as its content encoding says`);
  }
}

async function readRaw(answer: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  if (Number(answer.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function tooLarge(limit: number): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_LIMIT", `the answer is larger than ${limit} bytes (responseBytes)`);
}

function refusal(message: string): XdskitError {
  return XdskitError.of("XDSKIT_POLL_FAILED", message);
}
