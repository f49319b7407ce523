import { readFile } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";

/** The name that stands for standard input. */
export const standardInput = "-";

/** More than this is no file that anybody wrote. */
const mostBytes = 64 * 1024 * 1024;

/** All bytes of a file, or of standard input. Rejects with XDSKIT_FILE_UNREADABLE. */
export async function bytesOfInput(
  path: string,
  stdin: AsyncIterable<Uint8Array> = process.stdin,
): Promise<Uint8Array> {
  if (path === standardInput) return await bytesOfStream(stdin);
  try {
    return await readFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file or folder" : `it cannot be read: ${code ?? message}`;
    throw XdskitError.of("XDSKIT_FILE_UNREADABLE", reason, { file: path }, { cause: error });
  }
}

async function bytesOfStream(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes)
      throw XdskitError.of("XDSKIT_FILE_UNREADABLE", `it has more than ${mostBytes} bytes`, { file: "standard input" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
