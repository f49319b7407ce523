import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { type StatusCode, statusCode } from "@xdskit/protocol";

/** How requests may be compressed. */
export type MessageEncoding = "gzip" | "deflate";

const inflaters = { gzip: promisify(gunzip), deflate: promisify(inflate) } as const;

/** So many are inflated at once, over all connections: a few kilobytes may become `mostBytes` each, and thousands of those must not fill the memory. */
const atOnce = 4;
let running = 0;
const waiting = new Set<() => void>();

/** What was inside, or why it cannot be had. */
export type Inflated = { readonly bytes: Buffer } | { readonly code: StatusCode; readonly message: string };

/** Tells what was inside, in the turn of the call: until that returns no other is inflated in its place. At most `mostBytes` are inflated; what `isWanted` no more is left. */
export async function inflateMessage(
  encoding: MessageEncoding,
  bytes: Buffer,
  mostBytes: number,
  isWanted: () => boolean,
  told: (inflated: Inflated) => void,
): Promise<void> {
  if (running < atOnce) running += 1;
  else await new Promise<void>((resolve) => waiting.add(resolve));
  try {
    if (isWanted()) told(await inflateNow(encoding, bytes, mostBytes));
  } finally {
    const [next] = waiting;
    if (next === undefined) running -= 1;
    else {
      waiting.delete(next);
      next();
    }
  }
}

async function inflateNow(encoding: MessageEncoding, bytes: Buffer, mostBytes: number): Promise<Inflated> {
  try {
    return { bytes: await inflaters[encoding](bytes, { maxOutputLength: mostBytes }) };
  } catch (error) {
    const isLarge = error instanceof RangeError;
    return isLarge
      ? {
          code: statusCode.resourceExhausted,
          message: `a request is larger than ${mostBytes} bytes once it is inflated`,
        }
      : { code: statusCode.internal, message: `a request is no ${encoding}` };
  }
}
