import { mostBodies, mostBodyBytes } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";

/** Reads bodies, a few at a time and each up to a limit. */
export type ReadBody = (request: Request) => Promise<Uint8Array>;

export function createReadBody(): ReadBody {
  let reading = 0;
  return async (request) => {
    if (Number(request.headers.get("content-length") ?? 0) > mostBodyBytes) throw tooLarge();
    if (reading >= mostBodies) throw ApiProblem.of(503, "XDSKIT_BUSY", `${mostBodies} bodies are read already`);
    reading += 1;
    try {
      return await bytesOf(request);
    } finally {
      reading -= 1;
    }
  };
}

async function bytesOf({ body }: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (body !== null) {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > mostBodyBytes) throw tooLarge();
      chunks.push(chunk);
    }
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(): ApiProblem {
  return ApiProblem.of(413, "XDSKIT_API_REQUEST", `the body has more than ${mostBodyBytes} bytes`);
}
