import { isIP } from "node:net";
import { join } from "node:path";
import { writeYaml } from "@xdskit/api";
import type { TlsSettings } from "@xdskit/client";

/** What Envoy shows the server, and what it wants to see. Paths are on the client's machine. */
export interface EnvoyCredentials {
  /** The host that it connects to. */
  readonly host: string;
  /** Undefined: plaintext. */
  readonly tls: TlsSettings | undefined;
  /** The file of a token that it sends with each stream and poll. */
  readonly tokenFile?: string | undefined;
  /**
   * The folder of `secretFiles`. Through these Envoy reads certificates and the token again when others are moved over
   * them. What stands in the bootstrap itself it reads once, which a token cannot do with.
   */
  readonly secrets?: string | undefined;
}

const names = { certificate: "xdskit-certificate", validation: "xdskit-validation", token: "xdskit-token" };
const typeUrl = (name: string) => `type.googleapis.com/envoy.extensions.${name}`;

/**
 * The secrets' files by their names: a `DiscoveryResponse` with one secret each, as Envoy wants them. They hold paths
 * only.
 */
export function secretFiles({ host, tls, tokenFile }: EnvoyCredentials): ReadonlyMap<string, string> {
  const secrets = {
    [names.certificate]: tls?.certificateFile && { tls_certificate: certificateOf(tls) },
    [names.validation]: tls && { validation_context: validationOf(host, tls) },
    [names.token]: tokenFile && { generic_secret: { secret: { filename: tokenFile } } },
  };
  const files = Object.entries(secrets).flatMap(([name, secret]) => {
    if (!secret) return [];
    const resource = { "@type": typeUrl("transport_sockets.tls.v3.Secret"), name, ...secret };
    return [[`${name}.yaml`, writeYaml({ resources: [resource] })] as const];
  });
  return new Map(files);
}

const secretConfig = (folder: string, name: string) => ({
  name,
  sds_config: { resource_api_version: "V3", path_config_source: { path: join(folder, `${name}.yaml`) } },
});

/** The filters of requests to the server: one puts the token in. */
export function tokenFilters(secrets: string) {
  const generic = {
    "@type": typeUrl("http.injected_credentials.generic.v3.Generic"),
    credential: secretConfig(secrets, names.token),
    // Since Envoy 1.37.
    header_value_prefix: "Bearer ",
  };
  const injector = {
    "@type": typeUrl("filters.http.credential_injector.v3.CredentialInjector"),
    overwrite: true,
    credential: { name: "envoy.http.injected_credentials.generic", typed_config: generic },
  };
  const codec = { "@type": typeUrl("filters.http.upstream_codec.v3.UpstreamCodec") };
  return [
    { name: "envoy.filters.http.credential_injector", typed_config: injector },
    { name: "envoy.filters.http.upstream_codec", typed_config: codec },
  ];
}

/** TLS with the server, over one protocol. */
export function transportSocket({ host, secrets }: EnvoyCredentials, tls: TlsSettings, protocol: string) {
  const { kind, name } = identityOf(host, tls);
  const own =
    secrets === undefined
      ? { tls_certificates: [certificateOf(tls)] }
      : { tls_certificate_sds_secret_configs: [secretConfig(secrets, names.certificate)] };
  const server =
    secrets === undefined
      ? { validation_context: validationOf(host, tls) }
      : { validation_context_sds_secret_config: secretConfig(secrets, names.validation) };
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": typeUrl("transport_sockets.tls.v3.UpstreamTlsContext"),
      ...(kind === "DNS" ? { sni: name } : {}),
      common_tls_context: {
        alpn_protocols: [protocol],
        ...(tls.certificateFile === undefined ? {} : own),
        ...server,
      },
    },
  };
}

const certificateOf = ({ certificateFile, keyFile }: TlsSettings) => ({
  certificate_chain: { filename: certificateFile },
  private_key: { filename: keyFile },
});

/** Envoy checks no name by itself: without the matcher it would trust every server of the same authority. */
function validationOf(host: string, tls: TlsSettings) {
  const { kind, name } = identityOf(host, tls);
  return {
    trusted_ca: { filename: tls.caFile },
    match_typed_subject_alt_names: [{ san_type: kind, matcher: { exact: name } }],
  };
}

/** What the server's certificate must say: an address, a SPIFFE ID, or a name. */
function identityOf(host: string, { serverName: name = host }: TlsSettings) {
  return { name, kind: isIP(name) !== 0 ? "IP_ADDRESS" : name.includes("://") ? "URI" : "DNS" };
}
