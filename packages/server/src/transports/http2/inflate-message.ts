import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { type StatusCode, statusCode } from "@xdskit/protocol";

/** How requests may be compressed. */
export type MessageEncoding = "gzip" | "deflate";

const inflaters = { gzip: promisify(gunzip), deflate: promisify(inflate) } as const;

/** What was inside, or why it cannot be had. Never rejects; at most `mostBytes` are inflated. */
export async function inflateMessage(
  encoding: MessageEncoding,
  bytes: Buffer,
  mostBytes: number,
): Promise<{ readonly bytes: Buffer } | { readonly code: StatusCode; readonly message: string }> {
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
