import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { createEnvoyAdmin, type EnvoyAdmin } from "./envoy-admin.js";
import type { Process } from "./process.js";
import { type ClientVariant, xdsCluster } from "./resources.js";
import type { Scene } from "./scene.js";
import { eventually } from "./wait.js";

/** A running Envoy. */
export interface Envoy {
  readonly process: Process;
  readonly admin: EnvoyAdmin;
}

export interface EnvoyOptions {
  /** The executable. */
  readonly path: string;
  /** `host:port` of the management server. */
  readonly server: string;
  readonly variant: ClientVariant;
  readonly id?: string;
  /** How long it may take until all is loaded. */
  readonly withinMs?: number;
  /** XDSKIT_E2E_ENVOY_LOG has the same effect. `upstream:debug,config:trace` shows the protocol. */
  readonly componentLogLevel?: string;
}

let started = 0;

/** Starts Envoy with that variant of the protocol and waits until it serves. */
export async function startEnvoy(scene: Scene, options: EnvoyOptions): Promise<Envoy> {
  started += 1;
  const prefix = join(scene.directory, `envoy-${started}`);
  await writeFile(`${prefix}.yaml`, stringify(bootstrap(options), { aliasDuplicateObjects: false }));
  const logLevel = options.componentLogLevel ?? process.env.XDSKIT_E2E_ENVOY_LOG;
  const envoy = scene.start({
    name: "envoy",
    command: options.path,
    args: [
      ...["--config-path", `${prefix}.yaml`, "--admin-address-path", `${prefix}.admin`],
      ...["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warning"],
      // Old listeners stay for a second and a half, long enough for every connection to be told to close.
      ...["--drain-time-s", "3", "--drain-strategy", "immediate", "--parent-shutdown-time-s", "4"],
      ...(logLevel === undefined ? [] : ["--component-log-level", logLevel]),
    ],
  });
  const withinMs = options.withinMs ?? 20_000;
  const address = await eventually(
    "Envoy's admin address",
    async () => {
      if (!envoy.isRunning()) throw new Error("Envoy ended");
      const text = await readFile(`${prefix}.admin`, "utf8");
      return text !== "" && text;
    },
    { withinMs },
  );
  const admin = createEnvoyAdmin(address);
  await eventually("Envoy being LIVE", () => admin.isLive(), { withinMs });
  return { process: envoy, admin };
}

function bootstrap({ server, variant, id = "envoy-1" }: EnvoyOptions): unknown {
  const [host = "", port = ""] = server.split(":");
  const api = {
    api_type: variant.endsWith("delta") ? "DELTA_GRPC" : "GRPC",
    transport_api_version: "V3",
    grpc_services: [{ envoy_grpc: { cluster_name: xdsCluster } }],
  };
  const dynamic = variant.startsWith("ads")
    ? {
        ads_config: { ...api, set_node_on_first_message_only: true },
        cds_config: { ads: {}, resource_api_version: "V3" },
        lds_config: { ads: {}, resource_api_version: "V3" },
      }
    : {
        cds_config: { api_config_source: api, resource_api_version: "V3" },
        lds_config: { api_config_source: api, resource_api_version: "V3" },
      };
  return {
    node: { id, cluster: "e2e" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    dynamic_resources: dynamic,
    static_resources: {
      clusters: [
        {
          name: xdsCluster,
          type: "STATIC",
          connect_timeout: "1s",
          typed_extension_protocol_options: {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
              "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          load_assignment: {
            cluster_name: xdsCluster,
            endpoints: [
              {
                lb_endpoints: [
                  { endpoint: { address: { socket_address: { address: host, port_value: Number(port) } } } },
                ],
              },
            ],
          },
        },
      ],
    },
  };
}
