import { type ResourceName, XdskitError } from "@xdskit/api";
import type { GrpcNames } from "../options/bootstrap-options.js";
import type { ClientOptions, NodeSettings } from "../options/client-options.js";
import type { DocumentPart } from "./document-part.js";
import { fileWatcher, grpcServers } from "./grpc-servers.js";

/** Reads gRPC's bootstrap: A27, A29, A36, A47, A65, A71, A97. Members that are not known are left out. */
export function readGrpcBootstrap(root: DocumentPart): ClientOptions & { readonly grpc: GrpcNames } {
  const servers = grpcServers(root.field("xds_servers"));
  const authorities = new Map(root.field("authorities").entries());
  if (servers.length === 0 && authorities.size === 0) throw root.field("xds_servers").error("names no server");
  const own = Array.from(authorities, ([name, part]) => {
    const named = grpcServers(part.field("xds_servers"));
    if (named.length === 0 && servers.length === 0) throw part.field("xds_servers").error("names no server");
    return [name, { servers: named.length === 0 ? servers : named }] as const;
  });
  return {
    servers,
    authorities: Object.fromEntries(own),
    node: grpcNode(root.field("node")),
    // As gRPC does.
    nodeOn: "first",
    grpc: {
      ...namesOf(root, authorities),
      certificateProviders: certificateProviders(root.field("certificate_providers")),
    },
  };
}

function grpcNode(node: DocumentPart): NodeSettings {
  const locality = node.field("locality");
  const metadata = node.field("metadata");
  return {
    id: node.field("id").text() ?? "",
    cluster: node.field("cluster").text(),
    locality: {
      region: locality.field("region").text(),
      zone: locality.field("zone").text(),
      subZone: locality.field("sub_zone").text(),
    },
    metadata: Object.fromEntries(metadata.entries().map(([key, part]) => [key, part.value ?? null])),
  };
}

function namesOf(
  root: DocumentPart,
  authorities: ReadonlyMap<string, DocumentPart>,
): Omit<GrpcNames, "certificateProviders"> {
  const byDefault = root.field("client_default_listener_resource_name_template").text() ?? "%s";
  const ofServers = root.field("server_listener_resource_name_template").text();
  const templates = new Map(
    Array.from(authorities, ([authority, part]) => {
      const start = `xdstp://${authority}/`;
      const template = part.field("client_listener_resource_name_template");
      const text = template.text() ?? `${start}envoy.config.listener.v3.Listener/%s`;
      if (!text.startsWith(start)) throw template.error(`must start with ${start}`);
      return [authority, text];
    }),
  );
  const known = (name: ResourceName): ResourceName => {
    const authority = /^xdstp:\/\/([^/?#]*)/.exec(name)?.[1];
    if (authority === undefined || templates.has(authority)) return name;
    throw root
      .field("authorities")
      .error(`has no authority ${JSON.stringify(authority)}, which the name of a listener asks for`);
  };
  return {
    listenerOf(target) {
      const parts = /^xds:(?:\/\/([^/]*)\/)?\/?(.+)$/.exec(target);
      const service = parts?.[2];
      if (service === undefined) {
        throw XdskitError.of("XDSKIT_BOOTSTRAP", `${JSON.stringify(target)} is not a target such as xds:///service`);
      }
      const authority = parts?.[1] ?? "";
      if (authority === "") return known(filled(byDefault, service));
      const template = templates.get(authority);
      if (template !== undefined) return filled(template, service);
      throw root.field("authorities").error(`has no authority ${JSON.stringify(authority)}, which ${target} asks for`);
    },
    serverListenerOf(address) {
      if (ofServers !== undefined) return known(filled(ofServers, address));
      throw root.field("server_listener_resource_name_template").error("is missing");
    },
  };
}

function filled(template: string, text: string): ResourceName {
  return template.replaceAll("%s", () => (template.startsWith("xdstp:") ? pathEncoded(text) : text));
}

/** Characters that RFC 3986 allows in a path stay as they are, slashes too. */
function pathEncoded(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/gu, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""),
  );
}

/** Only `file_watcher` is known: a program that needs another kind does not find it here. */
function certificateProviders(part: DocumentPart): GrpcNames["certificateProviders"] {
  const watchers = part.entries().flatMap(([name, provider]) => {
    if (provider.field("plugin_name").requiredText() !== "file_watcher") return [];
    const config = provider.field("config");
    const settings = fileWatcher(config);
    if (settings.caFile === undefined && settings.certificateFile === undefined) {
      throw config.error("names neither certificate_file nor ca_certificate_file");
    }
    return [[name, settings] as const];
  });
  return Object.fromEntries(watchers);
}
