import { isIPv4 } from "node:net";
import { XdskitError } from "@xdskit/api";
import { readCredentials } from "@xdskit/api/tls-files";
import { hostOf } from "./host-of.js";

/** Headers to send, by lower-case name; the values may be secrets. */
export type Headers = Readonly<Record<string, string>>;

/**
 * The `authorization` header, with the token that its file holds now. Rejects with an XdskitError
 * (XDSKIT_CREDENTIALS_FILE).
 */
export async function readToken(file: string): Promise<string> {
  const token = (await readCredentials(file)).toString("utf8").trim();
  // The characters that a header may hold; a token has no spaces either (RFC 6750).
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  const what = token === "" ? "is empty" : "holds no token: one line without spaces";
  throw XdskitError.of("XDSKIT_CREDENTIALS_FILE", what, { file });
}

/** Throws an XdskitError (XDSKIT_CREDENTIALS) if a token would go over the network in plaintext. */
export function refuseTokenInPlaintext(tokenFile: string | undefined, address: string, isTls: boolean): void {
  if (tokenFile === undefined || isTls || isLoopback(address)) return;
  const message = `the token of ${tokenFile} would go to ${address} in plaintext`;
  throw XdskitError.of("XDSKIT_CREDENTIALS", message, { field: "tokenFile" });
}

/** Whether messages to a gRPC target stay on this machine. */
function isLoopback(address: string): boolean {
  if (/^unix(-abstract)?:/.test(address)) return true;
  const host = hostOf(address);
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
