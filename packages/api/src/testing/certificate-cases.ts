import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createAuthority } from "./certificates.js";
import { cluster, type Fields, listener, type Refused, tcp, tls, url } from "./refusals.js";

/** Certificates and keys in resources: those that Envoy refuses, and those that it takes. */

export const authority = createAuthority("authority");
export const { certificate, key } = authority.issue("a.example");
export const other = authority.issue("b.example");
export const text = (inline_string: string) => ({ inline_string });
const bytes = (pem: string | Uint8Array) => ({ inline_bytes: Buffer.from(pem).toString("base64") });
const pkcs8 = (key: KeyObject, passphrase?: string) =>
  String(
    key.export({
      type: "pkcs8",
      format: "pem",
      ...(passphrase === undefined ? {} : { cipher: "aes-128-cbc", passphrase }),
    } as never),
  );
const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const own = authority.issueKey("own.example", pair);
/** The same key in several encryptions: with one in 256, a wrong password gives a right padding by chance. */
export const encrypted =
  Array.from({ length: 8 }, () => pkcs8(pair.privateKey, "open sesame")).find((pem) => isBadDecrypt(pem, "mellon")) ??
  "";
function isBadDecrypt(key: string, passphrase: string): boolean {
  try {
    createPrivateKey({ key, format: "pem", passphrase });
    return false;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code).includes("BAD_DECRYPT");
  }
}
const rsa = (modulusLength: number) => {
  const pair = generateKeyPairSync("rsa", { modulusLength });
  return paired(authority.issueKey("rsa.example", pair), pkcs8(pair.privateKey));
};
const curve = (namedCurve: string) => {
  const pair = generateKeyPairSync("ec", { namedCurve });
  return paired(authority.issueKey("ec.example", pair), pkcs8(pair.privateKey));
};

export const paired = (chain: string, key: string, more: Fields = {}) => ({
  certificate_chain: text(chain),
  private_key: text(key),
  ...more,
});
const secret = (fields: Fields): Fields => ({
  "@type": url("extensions.transport_sockets.tls.v3.Secret"),
  name: "a",
  ...fields,
});
export const served = (fields: Fields) => secret({ tls_certificate: fields });
export const trusted = (fields: Fields) => secret({ validation_context: fields });
export const upstream = (common: Fields) => cluster({ transport_socket: tls("Upstream", common) });
const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const cut = "-----BEGIN CERTIFICATE-----\nAAAA\n";
export const chain = "tls_certificate.certificate_chain.inline_string";
const privateKey = "tls_certificate.private_key.inline_string";
export const ca = "validation_context.trusted_ca.inline_string";
const isNoKey = /no private key as PEM/;

export const refused: readonly Refused[] = [
  [served(paired(certificate, other.key)), privateKey, /not the key of certificate_chain's first certificate/],
  [served(paired(authority.certificate + certificate, key)), privateKey, /first certificate/],
  [served(paired("not a certificate", key)), chain, /no certificate as PEM/],
  [served(paired(key, key)), chain, /no certificate as PEM/],
  [served(paired(certificate.replaceAll("\n", " "), key)), chain, /no certificate as PEM/],
  [served(paired(`\ufeff${certificate}`, key)), chain, /no certificate as PEM/],
  [served(paired("", key)), chain, /empty/],
  [served(paired(certificate + broken, key)), chain, /block 2/],
  [served(paired(certificate + cut, key)), chain, /cut off/],
  [served(paired(certificate + broken.replace("AAAA", "!!!!"), key)), chain, /not base64/],
  [served(paired(certificate, "not a key")), privateKey, isNoKey],
  [served(paired(certificate, certificate)), privateKey, isNoKey],
  [served(paired(certificate, key.replace(/^/gm, " "))), privateKey, isNoKey],
  [served(paired(certificate, "")), privateKey, /empty/],
  [served(paired(certificate, key.slice(0, 60))), privateKey, /cut off/],
  [served(paired(certificate, key.replace(/^[^-].*$/gm, "AAAA"))), privateKey, /not a private key/],
  [served(paired(own, encrypted)), privateKey, /needs a password/],
  [served(paired(own, encrypted, { password: text("") })), privateKey, /needs a password/],
  [served(paired(own, encrypted, { password: text("mellon") })), privateKey, /cannot be decrypted/],
  [served(rsa(1024)), chain, /1024 bits; the least is 2048/],
  [served(curve("secp224r1")), chain, /secp224r1/],
  [
    served({ certificate_chain: { filename: "/chain.pem" }, private_key: bytes("?") }),
    "tls_certificate.private_key.inline_bytes",
    isNoKey,
  ],
  [
    served({ certificate_chain: bytes("?"), private_key: { filename: "/key.pem" } }),
    "tls_certificate.certificate_chain.inline_bytes",
  ],
  [served({ pkcs12: bytes("") }), "tls_certificate.pkcs12.inline_bytes", /empty/],
  [served({ pkcs12: text("") }), "tls_certificate.pkcs12.inline_string", /empty/],
  [served(paired(certificate, key, { ocsp_staple: text("?") })), "tls_certificate.ocsp_staple.inline_string", /bytes/],
  [
    upstream({ tls_certificates: [paired(certificate, other.key)] }),
    "transport_socket.typed_config.common_tls_context.tls_certificates[0].private_key.inline_string",
  ],
  [
    listener({
      filter_chains: [
        { filters: [tcp], transport_socket: tls("Downstream", { tls_certificates: [paired("?", key)] }) },
      ],
    }),
    "filter_chains[0].transport_socket.typed_config.common_tls_context.tls_certificates[0].certificate_chain.inline_string",
  ],
  [trusted({ trusted_ca: text("?") }), ca, /no certificate as PEM/],
  [trusted({ trusted_ca: text("") }), ca, /empty/],
  [trusted({ trusted_ca: text(key) }), ca, /no certificate as PEM/],
  [trusted({ trusted_ca: text(certificate + broken) }), ca, /block 2/],
  [
    upstream({ validation_context: { trusted_ca: text("?") } }),
    "transport_socket.typed_config.common_tls_context.validation_context.trusted_ca.inline_string",
  ],
  [
    secret({ session_ticket_keys: { keys: [text("x".repeat(80)), text("é".repeat(41))] } }),
    "session_ticket_keys.keys[1].inline_string",
    /82 bytes/,
  ],
];

const sds = { name: "a", sds_config: { ads: {} } };
export const taken: readonly Fields[] = [
  served(paired(certificate, key)),
  served({ certificate_chain: bytes(certificate), private_key: bytes(key) }),
  served(paired(certificate + authority.certificate, key)),
  served(paired(key + certificate, certificate + key)),
  served(paired(`Subject: me\r\n${certificate.replaceAll("\n", " \r\n")}`, key.replaceAll("\n", "\r\n\r\n").trimEnd())),
  served(paired(certificate.replaceAll("CERTIFICATE", "X509 CERTIFICATE"), key + other.key)),
  served(paired(own, encrypted, { password: text("open sesame") })),
  served(paired(own, encrypted, { password: { filename: "/password" } })),
  served(rsa(2048)),
  served(curve("P-384")),
  served({ certificate_chain: { filename: "/chain.pem" }, private_key: { environment_variable: "KEY" } }),
  served({ pkcs12: bytes("?") }),
  trusted({ trusted_ca: text(`Root\n${authority.certificate}${certificate}`) }),
  trusted({ trusted_ca: { filename: "/ca.pem" } }),
  trusted({}),
  // SDS brings another authority.
  upstream({
    combined_validation_context: {
      default_validation_context: { trusted_ca: text("") },
      validation_context_sds_secret_config: sds,
    },
  }),
  secret({ session_ticket_keys: { keys: [bytes(new Uint8Array(80))] } }),
];
