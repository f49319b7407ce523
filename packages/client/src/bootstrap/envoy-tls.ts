import { fromBinary } from "@bufbuild/protobuf";
import type { DataSource, TransportSocket } from "@xdskit/api/envoy/config/core/v3/base";
import type { CertificateValidationContext } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/common";
import { UpstreamTlsContextSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/tls";
import type { TlsSettings } from "../options/tls-settings.js";
import type { DocumentPart } from "./document-part.js";

const tlsTypeName = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
const plainTypeName = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer";

/** The TLS of a cluster's `transport_socket`; undefined is plaintext. `part` is the cluster, for errors. */
export function envoyTls(socket: TransportSocket | undefined, part: DocumentPart): TlsSettings | undefined {
  const any = socket?.configType.value;
  if (socket === undefined || any === undefined) return undefined;
  const at = part.field("transport_socket").field("typed_config");
  const typeName = any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1);
  if (typeName === plainTypeName) return undefined;
  if (typeName !== tlsTypeName) throw at.error(`${typeName} is not supported; ${tlsTypeName} is`);
  const { commonTlsContext: common, sni } = fromBinary(UpstreamTlsContextSchema, any.value);
  const context = at.field("common_tls_context");
  if ((common?.tlsCertificateSdsSecretConfigs.length ?? 0) > 0) {
    throw context.field("tls_certificate_sds_secret_configs").error("secrets by SDS are not read; name files");
  }
  const kind = common?.validationContextType;
  if (kind?.case !== undefined && kind.case !== "validationContext") {
    throw context.error("for trusted certificates only validation_context with files is supported");
  }
  const [certificate] = common?.tlsCertificates ?? [];
  const certificates = context.field("tls_certificates");
  const validation = context.field("validation_context");
  return {
    caFile: fileOf(kind?.value?.trustedCa, validation.field("trusted_ca")),
    certificateFile: fileOf(certificate?.certificateChain, certificates),
    keyFile: fileOf(certificate?.privateKey, certificates),
    serverName: nameIn(kind?.value) ?? (sni || undefined),
  };
}

/**
 * The name that the certificate must have, if there is one exact name. Envoy checks no name unless it is told to.
 */
function nameIn(context: CertificateValidationContext | undefined): string | undefined {
  const names = [
    ...(context?.matchTypedSubjectAltNames ?? []).map(({ matcher }) => matcher),
    ...(context?.matchSubjectAltNames ?? []),
  ].map((matcher) => (matcher?.matchPattern.case === "exact" ? matcher.matchPattern.value : undefined));
  const [name] = names;
  // A name that is not a host name (spiffe://…) cannot be checked this way.
  return names.length === 1 && name !== undefined && !name.includes("/") ? name : undefined;
}

/** The file that a `DataSource` names. Contents may be secrets and are not read from a bootstrap. */
export function fileOf(source: DataSource | undefined, part: DocumentPart): string | undefined {
  const { case: kind, value } = source?.specifier ?? {};
  if (kind === undefined) return undefined;
  if (kind === "filename") return value;
  throw part.error("certificates and keys are read from files: write `filename`");
}
