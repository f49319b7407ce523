import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StartClient } from "./client-peer.js";

/** The bootstrap of gRPC's clients. */
function grpcBootstrap(servers: readonly string[]): object {
  const more = { channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] };
  const node = { id: "xds-conformance", locality: {} };
  return { xds_servers: servers.map((address) => ({ server_uri: address, ...more })), node };
}

/** A bootstrap of Envoy: it takes its clusters and listeners from ADS, and picks a free port for its own page. */
function envoyBootstrap(address: string): object {
  const [host = "", port = ""] = address.split(/:(?=\d+$)/);
  const socketAddress = { address: host, port_value: Number(port) };
  const endpoint = { lb_endpoints: [{ endpoint: { address: { socket_address: socketAddress } } }] };
  const http2 = {
    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    explicit_http_config: { http2_protocol_options: {} },
  };
  const server = {
    name: "xds-conformance",
    connect_timeout: "5s",
    typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2 },
    load_assignment: { cluster_name: "xds-conformance", endpoints: [endpoint] },
  };
  const grpc = [{ envoy_grpc: { cluster_name: server.name } }];
  const ads = { ads: {}, resource_api_version: "V3" };
  return {
    node: { id: "xds-conformance", cluster: "xds-conformance" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    static_resources: { clusters: [server] },
    dynamic_resources: {
      ads_config: { api_type: "GRPC", transport_api_version: "V3", grpc_services: grpc },
      cds_config: ads,
      lds_config: ads,
    },
  };
}

/**
 * A client that is a command. Its environment says where the server is: `XDS_SERVER` has the address,
 * `GRPC_XDS_BOOTSTRAP` the file that gRPC's clients read, and `XDS_CONFORMANCE_ENVOY_BOOTSTRAP` one for Envoy. At
 * `XDS_CONFORMANCE_CSDS` it may serve its status. What it prints goes to `err`.
 */
export function commandClient([command = "", ...args]: readonly string[], err: (text: string) => void): StartClient {
  return ({ servers, status }) => {
    const [address = ""] = servers;
    const folder = mkdtempSync(join(tmpdir(), "xds-conformance-client-"));
    const written = (name: string, content: object): string => {
      const file = join(folder, name);
      writeFileSync(file, JSON.stringify(content));
      return file;
    };
    const env = {
      ...process.env,
      XDS_SERVER: address,
      XDS_CONFORMANCE_CSDS: status,
      GRPC_XDS_BOOTSTRAP: written("grpc.json", grpcBootstrap(servers)),
      XDS_CONFORMANCE_ENVOY_BOOTSTRAP: written("envoy.json", envoyBootstrap(address)),
    };
    // A group of its own, so that what it starts ends with it.
    // Its input stays open: there are clients that end with it.
    const child = spawn(command, args, { env, stdio: ["pipe", "ignore", "pipe"], detached: true });
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (text: Buffer) => err(text.toString()));
    child.on("error", (error) => err(`${command} cannot be started: ${error.message}\n`));
    return () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      rmSync(folder, { recursive: true, force: true });
    };
  };
}
