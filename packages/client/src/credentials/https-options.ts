import { XdskitError } from "@xdskit/api";
import { createTlsReader, identityOf } from "@xdskit/api/tls-files";
import type { RestServerSettings } from "../options/client-options.js";
import { hostOf } from "./host-of.js";

/** The options of `https.request` besides the URL. An agent opens a new connection if one of them differs. */
export interface HttpsOptions {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly servername?: string | undefined;
}

/**
 * The TLS of a REST server; files are read for each request. Throws an XdskitError (XDSKIT_CREDENTIALS) for a
 * certificate without its key, and for TLS settings with a plaintext URL; the returned function rejects with an
 * XdskitError (XDSKIT_CREDENTIALS_FILE).
 */
export function httpsOptionsOf({ url, tls }: RestServerSettings): () => Promise<HttpsOptions> {
  if (tls === undefined) return async () => ({});
  if (!/^https:/i.test(url)) {
    throw XdskitError.of("XDSKIT_CREDENTIALS", `${new URL(url).origin} is plaintext, and has TLS settings`, {
      field: "url",
    });
  }
  const reader = createTlsReader(tls);
  const name = tls.serverName ?? hostOf(new URL(url).host);
  return async () => {
    const { ca, certificate, key } = await reader.read();
    return { ca, cert: certificate, key, servername: identityOf(name).servername };
  };
}
