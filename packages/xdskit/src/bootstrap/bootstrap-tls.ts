/** The client's TLS settings. Paths are on the client's machine. */
export interface BootstrapTls {
  /** PEM: the trusted certificates. */
  readonly caFile: string;
  /** The client's certificate; undefined: none. */
  readonly own: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** The name that the server's certificate must have; undefined: the host of the address. */
  readonly serverName: string | undefined;
}
