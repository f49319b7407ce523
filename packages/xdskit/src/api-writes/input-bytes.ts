import { readFile } from "node:fs/promises";
import { maxBody, XdskitError } from "@xdskit/api";
import { boundedBytes } from "../files/bounded-bytes.js";

/** The name that stands for standard input. */
export const standardInput = "-";

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
  const bytes = await boundedBytes(stdin, maxBody);
  if (bytes !== undefined) return bytes;
  throw XdskitError.of("XDSKIT_FILE_UNREADABLE", `it has more than ${maxBody} bytes`, { file: "standard input" });
}
