import type { GrpcService, GrpcService_GoogleGrpc } from "@xdskit/api/envoy/config/core/v3/grpc_service";
import type { GrpcServerSettings } from "../options/client-options.js";
import type { TlsSettings } from "../options/tls-settings.js";
import type { DocumentPart } from "./document-part.js";
import type { FindCluster } from "./envoy-clusters.js";
import { fileOf } from "./envoy-tls.js";

/** The servers of a `GrpcService`: one for each endpoint, in order. */
export type Reached = Pick<GrpcServerSettings, "kind" | "address" | "tls" | "headers">;

/** Resolves one of `grpc_services`. */
export function envoyService(service: GrpcService, part: DocumentPart, find: FindCluster): readonly Reached[] {
  const { targetSpecifier: target } = service;
  const headers = Object.fromEntries(service.initialMetadata.map(({ key, value }) => [key, value]));
  switch (target.case) {
    case "envoyGrpc": {
      const { addresses, tls } = find(target.value.clusterName, part.field("envoy_grpc").field("cluster_name"));
      return addresses.map((address) => ({ kind: "grpc", address, tls, headers }));
    }
    case "googleGrpc": {
      const at = part.field("google_grpc");
      const tls = tlsOf(target.value, at.field("channel_credentials"));
      const token = tokenOf(target.value, at.field("call_credentials"));
      if (token !== undefined && tls === undefined) {
        throw at.field("call_credentials").error("a token needs ssl_credentials: it would be sent in plaintext");
      }
      const address = at.field("target_uri").requiredText();
      const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return [{ kind: "grpc", address, tls, headers: { ...headers, ...authorization } }];
    }
    default:
      throw part.error("needs envoy_grpc or google_grpc");
  }
}

function tlsOf(service: GrpcService_GoogleGrpc, part: DocumentPart): TlsSettings | undefined {
  const kind = service.channelCredentials?.credentialSpecifier;
  if (kind?.case === "googleDefault") throw part.error("google_default is not supported; ssl_credentials are");
  if (kind?.case !== "sslCredentials") return undefined;
  const { rootCerts, privateKey, certChain } = kind.value;
  const at = part.field("ssl_credentials");
  const override = service.channelArgs?.args["grpc.ssl_target_name_override"]?.valueSpecifier;
  return {
    caFile: fileOf(rootCerts, at.field("root_certs")),
    certificateFile: fileOf(certChain, at.field("cert_chain")),
    keyFile: fileOf(privateKey, at.field("private_key")),
    serverName: override?.case === "stringValue" ? override.value : undefined,
  };
}

function tokenOf(service: GrpcService_GoogleGrpc, part: DocumentPart): string | undefined {
  const [first, second] = service.callCredentials;
  if (second !== undefined) throw part.error("a stream carries one token only");
  const kind = first?.credentialSpecifier;
  if (kind?.case === undefined) return undefined;
  if (kind.case !== "accessToken") throw part.error("of call credentials only access_token is supported");
  return kind.value;
}
