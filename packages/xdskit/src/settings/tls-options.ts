import type { TlsSettings } from "@xdskit/client";

/** What the command line says of TLS with a server, and of a token for it. Paths of files. */
export interface TlsOptions {
  /** Wished for, where nothing else says so. */
  readonly tls?: boolean | undefined;
  readonly tlsCa?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** The client's settings that the options come to; undefined: plaintext. */
export function tlsOf({ tls, tlsCa, tlsCert, tlsKey, tlsServerName }: TlsOptions): TlsSettings | undefined {
  const found = { caFile: tlsCa, certificateFile: tlsCert, keyFile: tlsKey, serverName: tlsServerName };
  const isWished = tls === true || Object.values(found).some((value) => value !== undefined);
  return isWished ? found : undefined;
}
