import { fromBinary } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import type { DataSource } from "@xdskit/api/envoy/config/core/v3/base";
import type { Secret } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import { SPIFFECertValidatorConfigSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config";

const validatorType = "envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig";

/** The certificate and its key in a secret. Throws an XdskitError (XDSKIT_CREDENTIALS_FILE) without their content. */
export function certificateIn({ type }: Secret, place: string): { readonly certificate: Buffer; readonly key: Buffer } {
  if (type.case !== "tlsCertificate") throw wrong(place, "is no certificate with its key (tls_certificate)");
  const { certificateChain, privateKey } = type.value;
  return { certificate: inlineContent(certificateChain, place), key: inlineContent(privateKey, place) };
}

/** The authorities in a secret. Throws as `certificateIn`. */
export function authoritiesIn({ type }: Secret, place: string): Buffer {
  if (type.case !== "validationContext") throw wrong(place, "has no trusted certificates (validation_context)");
  const { trustedCa, customValidatorConfig } = type.value;
  if (customValidatorConfig === undefined) return inlineContent(trustedCa, place);
  const any = customValidatorConfig.typedConfig;
  if (any?.typeUrl.endsWith(`/${validatorType}`) !== true)
    throw wrong(place, `has a validator that is no ${validatorType}`);
  const { trustDomains } = validatorIn(any.value, place);
  const [first, second] = trustDomains;
  if (first === undefined) throw wrong(place, "names no trust domain");
  // Together, the authority of one could give out IDs of the other.
  if (second !== undefined) throw wrong(place, "has several trust domains: name the bundle of one (sds_bundle)");
  return inlineContent(first.trustBundle, place);
}

function validatorIn(bytes: Uint8Array, place: string) {
  try {
    return fromBinary(SPIFFECertValidatorConfigSchema, bytes);
  } catch {
    throw wrong(place, "has a validator that cannot be read");
  }
}

function inlineContent(source: DataSource | undefined, place: string): Buffer {
  const content = source?.specifier;
  if (content?.case === "inlineBytes" && content.value.length > 0) return Buffer.from(content.value);
  if (content?.case === "inlineString" && content.value !== "") return Buffer.from(content.value);
  throw wrong(place, "has no content of its own: files are named by cert, key and client_ca");
}

const wrong = (file: string, why: string) => XdskitError.of("XDSKIT_CREDENTIALS_FILE", why, { file });
