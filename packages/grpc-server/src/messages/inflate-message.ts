/// <reference types="node" preserve="true" />
import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { type GrpcCode, grpcCode } from "./grpc-code.js";

/** The encodings of compressed messages. */
export type MessageEncoding = "gzip" | "deflate";

const inflaters = { gzip: promisify(gunzip), deflate: promisify(inflate) } as const;

/**
 * The number of messages that are inflated at once, over all connections: a few kilobytes may become many megabytes,
 * and thousands of those must not fill the memory.
 */
const atOnce = 4;
let running = 0;
const waiting = new Set<() => void>();

/** The message, or the reason why it could not be inflated. */
type Inflated = { readonly bytes: Buffer } | { readonly code: GrpcCode; readonly message: string };

/**
 * Inflates a message, up to `maxBytes`, and passes it to `told`; no other message takes its place before that
 * returns. A message that `isWanted` no longer wants is skipped.
 */
export async function inflateMessage(
  encoding: MessageEncoding,
  bytes: Buffer,
  maxBytes: number,
  isWanted: () => boolean,
  done: (inflated: Inflated) => void,
): Promise<void> {
  await inflateInTurn(isWanted, () => inflateNow(encoding, bytes, maxBytes), done);
}

/** Passes the result of `inflate` to `told`, once fewer than four others are being inflated; see `inflateMessage`. */
export async function inflateInTurn<T>(
  isWanted: () => boolean,
  inflate: () => Promise<T>,
  done: (inflated: T) => void,
): Promise<void> {
  if (running < atOnce) running += 1;
  else await new Promise<void>((resolve) => waiting.add(resolve));
  try {
    if (isWanted()) done(await inflate());
  } finally {
    const [next] = waiting;
    if (next === undefined) running -= 1;
    else {
      waiting.delete(next);
      next();
    }
  }
}

async function inflateNow(encoding: MessageEncoding, bytes: Buffer, maxBytes: number): Promise<Inflated> {
  try {
    return { bytes: await inflaters[encoding](bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isLarge = error instanceof RangeError;
    return isLarge
      ? {
          code: grpcCode.resourceExhausted,
          message: `a request is larger than ${maxBytes} bytes once it is inflated`,
        }
      : { code: grpcCode.internal, message: `a request is no ${encoding}` };
  }
}
