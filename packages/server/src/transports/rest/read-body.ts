import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { inflateInTurn } from "@xdskit/grpc-server";
import type { PollRefusal } from "../../contracts/poll-transport.js";
import type { BodyRoom } from "./body-room.js";

/** A request's body, or the reason for its absence; `gone`: the client no longer waits for an answer. */
export type ReadBody =
  | { readonly kind: "body"; readonly bytes: Uint8Array }
  | { readonly kind: "gone" }
  | (PollRefusal & { readonly kind: "refused" });

type Decompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

const decompressors: Readonly<Record<string, Decompress>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Reads a body of at most `limit` bytes, before and after decompression, while there is room for it. Compressed ones
 * are inflated a few at a time, and keep their room until then.
 */
export async function readBody(request: IncomingMessage, limit: number, room: BodyRoom): Promise<ReadBody> {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decompress = Object.hasOwn(decompressors, encoding) ? decompressors[encoding] : undefined;
  if (decompress === undefined && encoding !== "identity") {
    const message = `the content encoding ${JSON.stringify(encoding.slice(0, 100))} is not known; gzip, deflate and br are`;
    return { kind: "refused", status: 415, message };
  }
  const entry = room.enter();
  try {
    const raw = await readRaw(request, limit, entry);
    if (raw.kind !== "body" || decompress === undefined) return raw;
    let body: ReadBody = { kind: "gone" };
    const isWanted = () => !request.socket.destroyed;
    await inflateInTurn(
      isWanted,
      () => decompressed(decompress, raw.bytes, encoding, limit),
      (inflated) => {
        body = inflated;
      },
    );
    return body;
  } finally {
    entry.leave();
  }
}

async function decompressed(
  decompress: Decompress,
  bytes: Uint8Array,
  encoding: string,
  limit: number,
): Promise<ReadBody> {
  try {
    return { kind: "body", bytes: await decompress(bytes, { maxOutputLength: limit }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return tooLarge(limit);
    return { kind: "refused", status: 400, message: `the body is not ${encoding}, as its content encoding says` };
  }
}

function readRaw(request: IncomingMessage, limit: number, entry: ReturnType<BodyRoom["enter"]>): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    if (Number(request.headers["content-length"] ?? 0) > drained * limit) {
      resolve(tooLarge(limit));
      return;
    }
    request.on("data", (chunk: Buffer) => {
      length += chunk.byteLength;
      if (length > limit) {
        chunks.length = 0;
        entry.leave();
      } else if (entry.grow(chunk.byteLength)) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
        request.pause();
        resolve(noRoom);
        return;
      }
      if (length <= drained * limit) return;
      request.pause();
      resolve(tooLarge(limit));
    });
    request.on("end", () => {
      const [first] = chunks;
      if (length > limit) resolve(tooLarge(limit));
      else if (first !== undefined && chunks.length === 1) resolve({ kind: "body", bytes: first });
      else resolve({ kind: "body", bytes: Buffer.concat(chunks) });
    });
    request.on("error", () => resolve({ kind: "gone" }));
    request.on("close", () => resolve({ kind: "gone" }));
  });
}

/**
 * A body that is a little too large is read to its end and dropped: a client that still sends may not see the answer.
 */
const drained = 2;

const noRoom: ReadBody = {
  kind: "refused",
  status: 429,
  message: "too many large requests are being sent to this server at once",
  retryAfterS: 1,
};

function tooLarge(limit: number): ReadBody {
  return { kind: "refused", status: 413, message: `the body is larger than ${limit} bytes` };
}
