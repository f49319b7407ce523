/** PEM files; they are read for each connection, so that they can be rotated. */
export interface TlsSettings {
  /** The trusted certificates. Default: those of Node.js (its own list, and `NODE_EXTRA_CA_CERTS`). */
  readonly caFile?: string | undefined;
  /** Both, for mutual TLS. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The name that the server's certificate must have, if it is not the address's. */
  readonly serverName?: string | undefined;
}
