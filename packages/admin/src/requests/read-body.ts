import { maxBody } from "@xdskit/api";
import { bodyGraceMs, bodyMsPerMib, maxRetainedBytes } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";

export interface BodyLimits {
  /** Bytes of all bodies that are retained. */
  readonly retainedBytes: number;
  /** How long any body may take. */
  readonly graceMs: number;
}

/** Reads bodies, however many at once: all bodies that requests hold share a number of bytes. */
export function createBodies(
  { retainedBytes, graceMs }: BodyLimits = { retainedBytes: maxRetainedBytes, graceMs: bodyGraceMs },
) {
  const retained = new WeakMap<Request, number>();
  let all = 0;
  const take = (request: Request, bytes: number): void => {
    if (all + bytes > retainedBytes) {
      const message = `the bodies of requests that are not answered yet have more than ${retainedBytes} bytes`;
      throw ApiProblem.of(503, "XDSKIT_BUSY", message);
    }
    all += bytes;
    retained.set(request, (retained.get(request) ?? 0) + bytes);
  };
  return {
    /** Its bytes are counted until `release`. Rejects with a problem if it is too large, or comes too slowly. */
    read: (request: Request) => bytesOf(request, graceMs, (bytes) => take(request, bytes)),
    /** The request is answered: its body is not needed any more. */
    release(request: Request): void {
      all -= retained.get(request) ?? 0;
      retained.delete(request);
    },
  };
}

async function bytesOf(
  { headers, body }: Request,
  graceMs: number,
  take: (bytes: number) => void,
): Promise<Uint8Array> {
  if (Number(headers.get("content-length") ?? 0) > maxBody) throw tooLarge();
  if (body === null) return new Uint8Array();
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  const start = Date.now();
  let size = 0;
  try {
    for (;;) {
      const end = start + graceMs + (size / (1024 * 1024)) * bodyMsPerMib;
      const { done, value } = await before(end, reader.read());
      if (done) return Buffer.concat(chunks, size);
      size += value.byteLength;
      if (size > maxBody) throw tooLarge();
      take(value.byteLength);
      chunks.push(value);
    }
  } catch (error) {
    // The caller may be slow to stop, too.
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** Rejects with a problem if the work is not done by `end`. */
async function before<T>(end: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), Math.max(0, end - Date.now()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): ApiProblem {
  return ApiProblem.of(413, "XDSKIT_API_REQUEST", `the body has more than ${maxBody} bytes`);
}

function tooSlow(): ApiProblem {
  return ApiProblem.of(408, "XDSKIT_API_REQUEST", "the body comes too slowly");
}
