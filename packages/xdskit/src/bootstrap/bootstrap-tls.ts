/** How a client speaks TLS with the server. Paths are those of the client's machine. */
export interface BootstrapTls {
  /** PEM: who is trusted. */
  readonly caFile: string;
  /** What the client shows; undefined: nothing. */
  readonly own: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** The name that the server's certificate must have; undefined: the host that is connected to. */
  readonly serverName: string | undefined;
}
