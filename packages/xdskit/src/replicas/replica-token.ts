import { randomBytes, timingSafeEqual } from "node:crypto";
import type { SharedKeys } from "@xdskit/server";

const key = "replicas/token";

/**
 * The token that the servers of a store show each other: a server that can read the store may ask. The first one makes
 * it. Rejects with XDSKIT_STORE if the store cannot be read.
 */
export async function replicaToken(shared: SharedKeys): Promise<string> {
  const [found] = await shared.list(key);
  if (found !== undefined) return found.value;
  const value = randomBytes(32).toString("base64url");
  if ((await shared.put({ key, value, expected: undefined })) !== undefined) return value;
  return (await shared.list(key))[0]?.value ?? value;
}

/** Whether a request shows it. */
export function showsToken(header: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ""), Buffer.from(`Bearer ${token}`)];
  return given.byteLength === wanted.byteLength && timingSafeEqual(given, wanted);
}
