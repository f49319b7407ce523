import type { TlsOptions } from "node:tls";

/** How a server proves who it is, and who may come: files in PEM form. They are looked at every two seconds, so that they may be replaced. */
export interface ServerTls {
  /** The server's certificate, and behind it those between it and one that clients trust. */
  readonly certificateFile: string;
  /** Its private key, without a password. */
  readonly keyFile: string;
  /** Given, every client must show a certificate that one of these signed. Default: clients are asked for none. */
  readonly clientCaFile?: string | undefined;
}

/** What the files hold. It goes to other threads, too, and never into a message. */
export type TlsContents = Pick<TlsOptions, "ca" | "cert" | "key" | "requestCert" | "rejectUnauthorized">;

/** What listens over TLS. */
export interface Renewable {
  /** Whoever connects from now on sees these certificates, and is judged by them; who is connected stays. */
  renew(tls: TlsContents): void;
}
