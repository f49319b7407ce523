import { isIP, type Socket } from "node:net";
import { type ConnectionOptions, checkServerIdentity, connect, type SecureContext } from "node:tls";
import { XdskitError } from "../errors/errors.js";

const untrusted = "its certificate is not signed by anyone who is trusted (caFile, --tls-ca)";

const explanations: Partial<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_HAS_EXPIRED: "its certificate is no longer valid",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name (serverName, --tls-server-name)",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    "it wants a certificate of the client (certificateFile and keyFile, --tls-cert and --tls-key)",
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    "it refuses, perhaps for want of a certificate of the client (certificateFile and keyFile, --tls-cert and --tls-key)",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "it does not trust the client's certificate",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: "it refuses the client's certificate",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: "the client's certificate is no longer valid",
};

/**
 * Explains a failed handshake in terms of the settings. `stale` says why older certificates than those on disk were
 * used.
 */
export function explainHandshake(error: unknown, server: string, stale: XdskitError | undefined): XdskitError {
  const { code, message } = error as NodeJS.ErrnoException;
  const words = explanations[code ?? ""] ?? message;
  const why = `TLS with ${server} failed: ${words}${code === undefined || words === code ? "" : ` [${code}]`}`;
  const more = stale === undefined ? "" : `; the files on disk could not be used: ${stale.message}`;
  return XdskitError.of("XDSKIT_TLS_HANDSHAKE", `${why}${more}`, {}, { cause: error });
}

/** The server's name or IP address, which its certificate must match. */
export function identityOf(server: string): Required<Pick<ConnectionOptions, "servername" | "checkServerIdentity">> {
  return {
    // RFC 6066 allows only names.
    servername: isIP(server) === 0 ? server : "",
    checkServerIdentity: (_, certificate) => checkServerIdentity(server, certificate),
  };
}

/** Parameters of a handshake. */
export interface Handshake {
  readonly context: SecureContext;
  /** The name or IP address that the certificate must have. */
  readonly server: string;
  /** Why older certificates than those on disk are used. */
  readonly stale: XdskitError | undefined;
}

/**
 * Starts TLS over a connection, for HTTP/2. Rejects with an XdskitError (XDSKIT_TLS_HANDSHAKE). If TLS breaks the
 * connection later, that error's message explains it too.
 */
export function shakeHands(socket: Socket, { context, server, stale }: Handshake): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const options = { socket, secureContext: context, ALPNProtocols: ["h2"], ...identityOf(server) };
    const secure = connect(options, () => {
      secure.off("close", closed);
      resolve(secure);
    });
    const failed = (error: NodeJS.ErrnoException) => {
      const explained = explainHandshake(error, server, stale);
      // With TLS 1.3 a server refuses only after the client considers the handshake done. By then HTTP/2 reports the
      // error, in OpenSSL's words, which nobody understands.
      if (error.code?.startsWith("ERR_SSL_") === true) error.message = explained.message;
      reject(explained);
    };
    const closed = () => failed(new Error("the server closed the connection"));
    secure.once("close", closed);
    // The listener stays: an unhandled socket error would end the process.
    secure.on("error", failed);
  });
}
