import { asksForCertificates, type ServerTls } from "@xdskit/server";
import { formatAddress, type ListenAddress } from "@xdskit/server/address";
import { countedAll, type TypeCounts } from "../output/counts.js";
import { version } from "../process/version.js";
import type { ExampleNode } from "./example-node.js";

/** What a command says once it serves. */
export interface StartSummary {
  /** Such as `serves ./config: 3 files`. */
  readonly what: string;
  readonly settingsFile: string | undefined;
  /** By group, in the order of the settings. */
  readonly counts: readonly (readonly [group: string, counts: TypeCounts])[];
  readonly grpc: ListenAddress;
  readonly admin: ListenAddress;
  /** A node that the server accepts. */
  readonly node: ExampleNode;
  /** The TLS of the gRPC port; undefined: plaintext. */
  readonly tls: ServerTls | undefined;
  readonly adminTls: ServerTls | undefined;
}

/** The text for standard error: what was read, which groups get it, and what to do next. */
export function startSummary(summary: StartSummary): string {
  const { what, settingsFile, counts, grpc, admin, node, tls, adminTls } = summary;
  const settings = settingsFile === undefined ? "" : `, settings from ${settingsFile}`;
  const server = formatAddress(reachable(grpc));
  const secured =
    tls === undefined ? "" : ` --tls-ca FILE${asksForCertificates(tls) ? " --tls-cert FILE --tls-key FILE" : ""}`;
  const of = node.group === undefined ? "" : ` of group ${node.group}`;
  const lines = [
    `xdskit ${version} ${what}${settings}`,
    ...counts.map(([group, resources]) => `  group ${group}: ${countedAll(resources)}`),
    `  admin: ${"path" in admin ? formatAddress(admin) : `${adminTls === undefined ? "http" : "https"}://${formatAddress(reachable(admin))}/`}`,
    `Point an Envoy${of} here:`,
    `  npx xdskit bootstrap --server ${server}${node.flags}${secured} > envoy.yaml && envoy -c envoy.yaml`,
    `Or a gRPC client${of}:`,
    `  npx xdskit bootstrap --grpc-client --server ${server}${node.flags}${secured} > grpc.json && export GRPC_XDS_BOOTSTRAP=$PWD/grpc.json`,
  ];
  return `${lines.join("\n")}\n`;
}

/** An address of this machine that a client can use: "all interfaces" is none. */
function reachable(address: ListenAddress): ListenAddress {
  if ("path" in address) return address;
  if (address.host === "0.0.0.0") return { ...address, host: "127.0.0.1" };
  return address.host === "::" ? { ...address, host: "::1" } : address;
}
