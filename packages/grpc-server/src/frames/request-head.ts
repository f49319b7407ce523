import { BadHeaderBlock, type HeaderBlock, type HeaderDecoder } from "../hpack/header-decoder.js";
import type { HeaderField } from "../hpack/static-table.js";
import { ConnectionError, http2Error, StreamError } from "./http2-errors.js";

/** The head of a request, checked as RFC 9113, 8.2 and 8.3 require. */
export interface HttpRequestHead {
  readonly method: string;
  readonly path: string;
  /** By lower-case name, without pseudo-header fields. The values of a name that comes twice are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** The content-length, if there is one. */
  readonly contentLength: number | undefined;
}

/** Fields of one connection, which HTTP/2 does not have (8.2.2). */
const connectionHeaders = new Set(["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"]);

const pseudoHeaders = new Set([":method", ":scheme", ":path", ":authority"]);

/** Decodes a header block and keeps at most `maxBytes` of it. Throws a ConnectionError if it cannot be read. */
export function decodeBlock(decoder: HeaderDecoder, bytes: Buffer, most: number): HeaderBlock {
  try {
    return decoder.decode(bytes, most);
  } catch (error) {
    if (!(error instanceof BadHeaderBlock)) throw error;
    throw new ConnectionError(http2Error.compressionError, error.message);
  }
}

/** Throws a StreamError if it is malformed. */
export function readRequestHead(fields: readonly HeaderField[]): HttpRequestHead {
  const pseudo = new Map<string, string>();
  const headers = new Map<string, string>();
  for (const [name, value] of fields) {
    checkField(name, value);
    if (name.startsWith(":")) {
      if (headers.size > 0) throw malformed(`${name} comes after other fields`);
      if (!pseudoHeaders.has(name) || pseudo.has(name)) throw malformed(`a second or unknown ${name}`);
      pseudo.set(name, value);
      continue;
    }
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  const method = pseudo.get(":method");
  const path = pseudo.get(":path");
  if (method === undefined || path === undefined || path === "" || !pseudo.has(":scheme")) {
    throw malformed("a request needs :method, :scheme and :path");
  }
  return { method, path, headers, contentLength: readLength(headers.get("content-length")) };
}

function readLength(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw malformed("content-length is no number");
  return Number(value);
}

/** Checks the fields after the body. Throws a StreamError for malformed ones. */
export function checkTrailers(fields: readonly HeaderField[]): void {
  for (const [name, value] of fields) {
    checkField(name, value);
    if (name.startsWith(":")) throw malformed(`${name} in trailers`);
  }
}

function checkField(name: string, value: string): void {
  if (!fieldName.test(name)) throw malformed("a field's name has a character that it must not have");
  if (badInValue.test(value)) throw malformed("a field's value has a character that it must not have");
  if (connectionHeaders.has(name)) throw malformed(`${name} does not exist in HTTP/2`);
  if (name === "te" && value.toLowerCase() !== "trailers") throw malformed("te is something else than trailers");
}

/** A token in lower case (8.2), with a colon before it where HTTP/2 itself defines it. */
const fieldName = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** NUL and line ends anywhere, blanks at either end (8.2.1). */
const badInValue = /[\0\n\r]|^[ \t]|[ \t]$/;

function malformed(message: string): StreamError {
  return new StreamError(http2Error.protocolError, message);
}
