import type {
  CertificateValidationContext,
  TlsCertificate,
  TlsSessionTicketKeys,
} from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/common";
import type { Secret } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import type {
  CommonTlsContext,
  DownstreamTlsContext,
  UpstreamTlsContext,
} from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/tls";
import type { FieldStep } from "../../../errors/field-path.js";
import { redacted } from "../../../redact/secret-text.js";
import type { SpecialProblem } from "../problem.js";
import { none, refused, within } from "../problem.js";
import { bundleProblems, pemProblems, trustedProblems } from "./certificates.js";

/** Fields of a CommonTlsContext that each bring certificates. */
const certificateSources = [
  "tlsCertificates",
  "tlsCertificateSdsSecretConfigs",
  "tlsCertificateProviderInstance",
  "tlsCertificateCertificateProvider",
  "tlsCertificateCertificateProviderInstance",
  "customTlsCertificateSelector",
] as const;

/** A certificate without its key, or a key without its certificate. */
export function certificateProblems(certificate: TlsCertificate): readonly SpecialProblem[] {
  const { certificateChain, privateKey, privateKeyProvider, pkcs12 } = certificate;
  const keys = [privateKey, privateKeyProvider].filter((part) => part !== undefined).length;
  if (pkcs12 !== undefined) {
    const other = certificateChain === undefined ? (keys > 0 ? "private_key" : undefined) : "certificate_chain";
    return other === undefined ? bundleProblems(pkcs12) : [refused(["pkcs12"], `cannot be combined with ${other}`)];
  }
  if (certificateChain !== undefined && keys === 0) return [refused([], "needs a private_key for its certificate")];
  if (certificateChain === undefined && keys > 0) return [refused([], "needs a certificate_chain for its key")];
  if (certificate.ocspStaple?.specifier.case !== "inlineString") return pemProblems(certificate);
  const staple = refused(["ocsp_staple", "inline_string"], "must be bytes: inline_bytes, or a file");
  return [staple, ...pemProblems(certificate)];
}

/** Secret: the authorities in it are used as they are. */
export function secretProblems({ type }: Secret): readonly SpecialProblem[] {
  return type.case === "validationContext" ? authorityProblems(type.value) : none;
}

/** The authorities of a context that is used as it is. In a default that SDS completes, SDS may bring others. */
function authorityProblems({
  trustedCa,
  allowExpiredCertificate,
}: CertificateValidationContext): readonly SpecialProblem[] {
  if (trustedCa === undefined) return none;
  return within(trustedProblems(trustedCa, allowExpiredCertificate), "validation_context");
}

/** The length of a key that encrypts session tickets. */
const ticketKeyBytes = 80;

/** TlsSessionTicketKeys: three keys in one, each of a fixed length. */
export function ticketKeyProblems({ keys }: TlsSessionTicketKeys): SpecialProblem[] {
  return keys.flatMap(({ specifier: { case: kind, value } }, index) => {
    if (kind !== "inlineString" && kind !== "inlineBytes") return [];
    const bytes = Buffer.from(value as string | Uint8Array);
    // A key that was left out has a separate finding.
    if (bytes.length === ticketKeyBytes || bytes.includes(redacted)) return [];
    const message = `has ${bytes.length} bytes; a key for session tickets has ${ticketKeyBytes}`;
    return [refused(["keys", index, kind === "inlineString" ? "inline_string" : "inline_bytes"], message)];
  });
}

/** Hashes of pinned certificates. */
export function hashProblems(context: CertificateValidationContext): SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  const check = (values: readonly string[], field: string, form: RegExp, message: string) => {
    for (const [index, value] of values.entries())
      if (!form.test(value)) problems.push(refused([field, index], message));
  };
  const hex = /^(?:[\da-f]{64}|(?:[\da-f]{2}:){31}[\da-f]{2})$/i;
  check(context.verifyCertificateHash, "verify_certificate_hash", hex, "must be a SHA-256 in hexadecimal");
  const base64 = /^[A-Za-z\d+/]{43}=$/;
  check(context.verifyCertificateSpki, "verify_certificate_spki", base64, "must be a SHA-256 in base64");
  return problems;
}

/** Settings that need an authority. In a default that SDS completes, SDS may bring the authority. */
export function commonTlsProblems({ validationContextType }: CommonTlsContext): readonly SpecialProblem[] {
  if (validationContextType.case !== "validationContext") return none;
  const context = validationContextType.value;
  const { trustedCa, caCertificateProviderInstance, systemRootCerts, customValidatorConfig } = context;
  const trusted = [trustedCa, caCertificateProviderInstance, systemRootCerts, customValidatorConfig];
  if (trusted.some((part) => part !== undefined) || hasUnknown(context)) return authorityProblems(context);
  const problems: SpecialProblem[] = [];
  const problem = (field: FieldStep) => problems.push(refused(["validation_context", field], "needs trusted_ca too"));
  if (context.matchTypedSubjectAltNames.length > 0) problem("match_typed_subject_alt_names");
  else if (context.matchSubjectAltNames.length > 0) problem("match_subject_alt_names");
  if (context.crl !== undefined) problem("crl");
  if (context.allowExpiredCertificate) problem("allow_expired_certificate");
  return problems;
}

/** UpstreamTlsContext: a client presents one certificate. */
export function upstreamTlsProblems({ commonTlsContext }: UpstreamTlsContext): SpecialProblem[] {
  const { tlsCertificates = [], tlsCertificateSdsSecretConfigs = [] } = commonTlsContext ?? {};
  const at = (field: string) => [
    refused(["common_tls_context", field], "must hold at most one certificate: a client shows only one"),
  ];
  if (tlsCertificates.length > 1) return at("tls_certificates");
  return tlsCertificateSdsSecretConfigs.length > 1 ? at("tls_certificate_sds_secret_configs") : [];
}

/** DownstreamTlsContext: a server needs a certificate, from any source. */
export function downstreamTlsProblems({ commonTlsContext }: DownstreamTlsContext): SpecialProblem[] {
  if (commonTlsContext === undefined) return [refused([], "needs common_tls_context with a certificate")];
  if (hasUnknown(commonTlsContext)) return [];
  const certificates = certificateSources.map((name) => commonTlsContext[name]);
  if (certificates.some((value) => value !== undefined && !(Array.isArray(value) && value.length === 0))) return [];
  return [
    refused(["common_tls_context"], "needs a certificate: tls_certificates or tls_certificate_sds_secret_configs"),
  ];
}

/** Newer fields have an unknown meaning. */
function hasUnknown(message: object): boolean {
  const { $unknown } = message as { readonly $unknown?: readonly unknown[] };
  return $unknown !== undefined && $unknown.length > 0;
}
