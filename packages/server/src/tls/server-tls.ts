import type { TlsOptions } from "node:tls";

/**
 * How a server proves who it is, and which clients may connect: files in PEM form. They are read again every two
 * seconds, so they may be replaced.
 */
export interface ServerTls {
  /** The server's certificate, and after it those between it and one that clients trust. */
  readonly certificateFile: string;
  /** Its private key, without a password. */
  readonly keyFile: string;
  /** If given, every client must show a certificate that one of these signed. Default: clients are asked for none. */
  readonly clientCaFile?: string | undefined;
  /**
   * With `clientCaFile`, whether a client without such a certificate may connect. It then needs a token, or another
   * proof, by the rules for callers (`identities`). Default `required`.
   */
  readonly clientCertificates?: "required" | "optional" | undefined;
}

/** The contents of the files. They must never appear in a message. */
export type TlsContents = Pick<TlsOptions, "ca" | "cert" | "key" | "requestCert" | "rejectUnauthorized">;

/** What listens over TLS. */
export interface Renewable {
  /** New connections use these certificates; open ones stay as they are. */
  renew(tls: TlsContents): void;
}
