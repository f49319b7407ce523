import { XdskitError } from "@xdskit/api";

const untrusted = "its certificate is not signed by anyone who is trusted (caFile)";

const explanations: Partial<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_HAS_EXPIRED: "its certificate is no longer valid",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name (serverName)",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "it wants a certificate of the client (certificateFile, keyFile)",
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    "it refuses, perhaps for want of a certificate of the client (certificateFile, keyFile)",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "it does not trust the client's certificate",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: "it refuses the client's certificate",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: "the client's certificate is no longer valid",
};

/** Why a handshake with a server failed, in words that say which setting it is about; `stale` is why older certificates than those on disk were used. */
export function explainHandshake(error: unknown, server: string, stale: XdskitError | undefined): XdskitError {
  const { code, message } = error as NodeJS.ErrnoException;
  const words = explanations[code ?? ""] ?? message;
  const why = `TLS with ${server} failed: ${words}${code === undefined || words === code ? "" : ` [${code}]`}`;
  const more = stale === undefined ? "" : `; the files on disk could not be used: ${stale.message}`;
  return XdskitError.of("XDSKIT_TLS_HANDSHAKE", `${why}${more}`, {}, { cause: error });
}
