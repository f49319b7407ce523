import { readFile } from "node:fs/promises";
import type { TlsOptions } from "node:tls";
import { createTlsReader } from "@xdskit/api/tls-files";
import { hostOf, isLoopback } from "@xdskit/server/address";
import { ApiError } from "./api-error.js";
import type { ApiServer } from "./api-server.js";

/** What a request shows the server. Nothing of it may appear in a message. */
interface ApiCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Pick<TlsOptions, "ca" | "cert" | "key">;
}

/** A token is short. */
const maxTokenLength = 8_192;

/** Reads the credentials of a server again for each request: files are replaced. Rejects with an ApiError. */
export function credentialsOf({ url, tokenFile, tlsCa, tlsCert, tlsKey }: ApiServer): () => Promise<ApiCredentials> {
  const reader = createTlsReader({ caFile: tlsCa, certificateFile: tlsCert, keyFile: tlsKey });
  const isTls = url.protocol === "https:";
  return async () => {
    const headers: ApiCredentials["headers"] =
      tokenFile === undefined ? {} : { authorization: `Bearer ${await tokenIn(tokenFile, url)}` };
    if (!isTls) return { headers, tls: {} };
    const { ca, certificate: cert, key } = await reader.read();
    return { headers, tls: { ca, cert, key } };
  };
}

async function tokenIn(file: string, url: URL): Promise<string> {
  // Whoever is on the way could use it.
  if (url.protocol === "http:" && !isLoopback(hostOf(url)))
    throw new ApiError(`a token is not sent in plaintext to ${url.host}: --server https://… (docs/security.md#roles)`);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ApiError(`the token file ${file} cannot be read: ${error.code ?? error.message}`);
  });
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= maxTokenLength) return token;
  throw new ApiError(`the token file ${file} holds no token: one line of printable characters is expected`);
}
