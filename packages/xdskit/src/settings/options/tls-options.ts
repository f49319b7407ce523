import type { TlsSettings } from "@xdskit/client";

/** The options for TLS with a server, and for a token. Paths of files. */
export interface TlsOptions {
  /** TLS without any further option. */
  readonly tls?: boolean | undefined;
  readonly tlsCa?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** The client's TLS settings from the options; undefined: plaintext. */
export function tlsOf({ tls, tlsCa, tlsCert, tlsKey, tlsServerName }: TlsOptions): TlsSettings | undefined {
  const found = { caFile: tlsCa, certificateFile: tlsCert, keyFile: tlsKey, serverName: tlsServerName };
  const isWished = tls === true || Object.values(found).some((value) => value !== undefined);
  return isWished ? found : undefined;
}
