import { type Cluster, Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { Address } from "@xdskit/api/envoy/config/core/v3/address";
import type { TlsSettings } from "../options/tls-settings.js";
import type { DocumentPart } from "./document-part.js";
import { envoyTls } from "./envoy-tls.js";

/** The servers that a cluster of the bootstrap names, and their connection settings. */
export interface StaticCluster {
  /** `HOST:PORT`, or `unix:PATH`. At least one. */
  readonly addresses: readonly string[];
  readonly tls: TlsSettings | undefined;
}

/** Finds a cluster of `static_resources` by its name; `from` is the part that names it, for errors. */
export type FindCluster = (name: string, from: DocumentPart) => StaticCluster;

export function createFindCluster(root: DocumentPart): FindCluster {
  const clusters = root.field("static_resources").field("clusters");
  return (name, from) => {
    const part = clusters.items().find((each) => each.field("name").value === name);
    if (part === undefined) throw from.error(`static_resources has no cluster ${JSON.stringify(name)}`);
    const cluster = part.message(ClusterSchema, "name", "type", "load_assignment", "transport_socket");
    return { addresses: addressesOf(cluster, part), tls: envoyTls(cluster.transportSocket, part) };
  };
}

function addressesOf(cluster: Cluster, part: DocumentPart): readonly string[] {
  const { clusterDiscoveryType: kind } = cluster;
  if (kind.case === "type" && kind.value === Cluster_DiscoveryType.EDS) {
    throw part.field("type").error("the endpoints of a management server must be in the bootstrap");
  }
  const assignment = part.field("load_assignment");
  const endpoints = cluster.loadAssignment?.endpoints.flatMap(({ lbEndpoints }) => lbEndpoints) ?? [];
  const addresses = endpoints.flatMap(({ hostIdentifier }) => {
    const address = hostIdentifier.case === "endpoint" ? hostIdentifier.value.address : undefined;
    return address === undefined ? [] : [addressOf(address, assignment)];
  });
  if (addresses.length === 0) throw assignment.error("names no endpoint");
  return addresses;
}

function addressOf({ address }: Address, part: DocumentPart): string {
  if (address.case === "pipe") return `unix:${address.value.path}`;
  if (address.case !== "socketAddress") throw part.error("an endpoint needs a socket_address or a pipe");
  const { address: host, portSpecifier: port } = address.value;
  if (port.case !== "portValue") throw part.error("an endpoint needs a port_value");
  return `${host.includes(":") ? `[${host}]` : host}:${port.value}`;
}
