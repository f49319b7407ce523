import { XdskitError } from "@xdskit/api";
import { createTlsReader } from "@xdskit/api/tls-files";
import type { RevocableTls } from "@xdskit/grpc-server";
import { withRevocations } from "./revocations.js";
import type { TlsSource } from "./tls-source.js";

/** How a server proves who it is, and which clients may connect. */
export interface ServerTls {
  /**
   * The server's certificate, and after it those between it and one that clients trust: a file in PEM form, as the
   * others. They are read again every two seconds, so they may be replaced.
   */
  readonly certificateFile?: string | undefined;
  /** Its private key, without a password. */
  readonly keyFile?: string | undefined;
  /** If given, every client must show a certificate that one of these signed. Default: clients are asked for none. */
  readonly clientCaFile?: string | undefined;
  /**
   * With `clientCaFile`, whether a client without such a certificate may connect. It then needs a token, or another
   * proof, by the rules for callers (`identities`). Default `required`.
   */
  readonly clientCertificates?: "required" | "optional" | undefined;
  /**
   * Lists of revoked certificates (CRL), of the authorities in `clientCaFile`: a client with a certificate that one of
   * them names is refused, and its open connections end. A list that has expired still counts.
   */
  readonly crlFile?: string | undefined;
  /** Instead of files: certificates from elsewhere, such as an agent. */
  readonly source?: TlsSource | undefined;
}

/** Whether clients are asked for a certificate. */
export function asksForCertificates({ clientCaFile, source }: ServerTls): boolean {
  return clientCaFile !== undefined || source !== undefined;
}

/**
 * Reads the certificates of these settings. Throws an XdskitError (XDSKIT_CREDENTIALS) for a certificate without its
 * key, or for content in place of a path.
 */
export function tlsSource({ crlFile, ...settings }: ServerTls): TlsSource {
  if (crlFile !== undefined && !asksForCertificates(settings)) {
    const why = "crlFile is given without clientCaFile: no client is asked for a certificate";
    throw XdskitError.of("XDSKIT_CREDENTIALS", why, { field: "tls.crlFile" });
  }
  const source = sourceOf(settings);
  return crlFile === undefined ? source : withRevocations(source, crlFile);
}

function sourceOf({ certificateFile, keyFile, clientCaFile, source }: ServerTls): TlsSource {
  if (source !== undefined) return source;
  const reader = createTlsReader({ caFile: clientCaFile, certificateFile, keyFile });
  return {
    place: certificateFile ?? "",
    read: () => reader.read(),
    get problem() {
      return reader.problem;
    },
    close() {},
  };
}

/** The contents of the files. They must never appear in a message. */
export type TlsContents = Pick<
  RevocableTls,
  "ca" | "cert" | "key" | "requestCert" | "rejectUnauthorized" | "isRevoked"
>;

/** What listens over TLS. */
export interface Renewable {
  /** New connections use these certificates; open ones stay as they are. */
  renew(tls: TlsContents): void;
}
