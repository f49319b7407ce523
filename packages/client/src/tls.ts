/** Files in PEM form; read again for each connection, so that they may be rotated. */
export interface TlsSettings {
  /** Who is trusted. Default: whom Node.js trusts (its own list, and `NODE_EXTRA_CA_CERTS`). */
  readonly caFile?: string | undefined;
  /** Both, for mutual TLS. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The name that the server's certificate must have, where it is not the address's. */
  readonly serverName?: string | undefined;
}
