import type { GrpcServerSettings } from "../options/client-options.js";
import type { TlsSettings } from "../options/tls-settings.js";
import type { DocumentPart } from "./document-part.js";

/** Reads `xds_servers` of gRPC's bootstrap (A27, A65, A97), in order. */
export function grpcServers(list: DocumentPart): readonly GrpcServerSettings[] {
  return list.items().map((server) => {
    const features = new Set(
      server
        .field("server_features")
        .items()
        .map((feature) => feature.text()),
    );
    return {
      kind: "grpc",
      address: server.field("server_uri").requiredText(),
      tls: channelCredentials(server.field("channel_creds")),
      tokenFile: tokenFile(server.field("call_creds")),
      // gRPC's clients speak only v3; the feature `xds_v3` is assumed since v2 is gone.
      variant: "sotw",
      aggregated: true,
      api: "v3",
      ignoreResourceDeletion: features.has("ignore_resource_deletion") || undefined,
      failOnDataErrors: features.has("fail_on_data_errors") || undefined,
    };
  });
}

/** The first kind in the list that is known; undefined is plaintext. */
function channelCredentials(list: DocumentPart): TlsSettings | undefined {
  const kinds: string[] = [];
  for (const part of list.items()) {
    const kind = part.field("type").requiredText();
    if (kind === "insecure") return undefined;
    if (kind === "tls") return fileWatcher(part.field("config"));
    kinds.push(JSON.stringify(kind));
  }
  if (kinds.length === 0)
    throw list.error('is missing: expected a list of credentials, such as [{ "type": "insecure" }]');
  throw list.error(`none of them is supported: ${kinds.join(", ")}; insecure and tls are`);
}

/**
 * The configuration of `tls` credentials and of the certificate provider `file_watcher`. Files are read for each
 * connection, so `refresh_interval` is not needed.
 */
export function fileWatcher(config: DocumentPart): TlsSettings {
  const certificateFile = config.field("certificate_file").text();
  const keyFile = config.field("private_key_file").text();
  if (certificateFile !== undefined && keyFile === undefined) config.field("private_key_file").requiredText();
  if (keyFile !== undefined && certificateFile === undefined) config.field("certificate_file").requiredText();
  return { caFile: config.field("ca_certificate_file").text(), certificateFile, keyFile };
}

/** A97: kinds that are not known are left out. */
function tokenFile(list: DocumentPart): string | undefined {
  const [first, second] = list.items().filter((part) => part.field("type").requiredText() === "jwt_token_file");
  if (second !== undefined) throw second.error("a stream carries one token only");
  return first?.field("config").field("jwt_token_file").requiredText();
}
