import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { EnvoyExtension } from "../extensions.js";

/** An Envoy's report about itself. */
export interface EnvoySelf {
  /** `1.40.0`. */
  readonly version: string;
  readonly extensions: readonly EnvoyExtension[];
}

/** The node in a discovery request, as JSON. */
interface NodeJson {
  readonly user_agent_build_version?: { readonly version?: Readonly<Record<string, number>> };
  readonly extensions?: readonly {
    readonly name?: string;
    readonly category?: string;
    readonly type_urls?: readonly string[];
  }[];
}

const longestStartMs = 60_000;

/**
 * Starts an Envoy that requests clusters from this program: its first request lists its extensions. Throws a plain
 * error if that fails.
 */
export async function askEnvoy(path: string): Promise<EnvoySelf> {
  const server = createServer();
  const node = new Promise<NodeJson>((resolve, reject) => {
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        response.writeHead(503).end();
        try {
          resolve((JSON.parse(Buffer.concat(chunks).toString()) as { node: NodeJson }).node);
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  });
  const port = await listening(server);
  const args = ["--config-yaml", JSON.stringify(bootstrap(port)), "--use-dynamic-base-id", "--log-level", "error"];
  const envoy = spawn(path, args, { stdio: "ignore" });
  const ended = once(envoy, "exit");
  const timer = setTimeout(() => envoy.kill("SIGKILL"), longestStartMs);
  try {
    const found = await Promise.race([node, ended.then(() => undefined)]);
    if (found === undefined) throw new Error(`${path} ended before it asked for anything`);
    return selfOf(found);
  } finally {
    clearTimeout(timer);
    envoy.kill("SIGKILL");
    await ended;
    server.closeAllConnections();
    server.close();
  }
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function bootstrap(port: number): object {
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  const source = { api_type: "REST", transport_api_version: "V3", cluster_names: ["asker"], refresh_delay: "1s" };
  return {
    node: { id: "schema", cluster: "schema" },
    dynamic_resources: { cds_config: { resource_api_version: "V3", api_config_source: source } },
    static_resources: {
      clusters: [
        {
          name: "asker",
          load_assignment: { cluster_name: "asker", endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
        },
      ],
    },
  };
}

function selfOf({ user_agent_build_version: build, extensions = [] }: NodeJson): EnvoySelf {
  const { major_number = 0, minor_number = 0, patch = 0 } = build?.version ?? {};
  if (extensions.length === 0) throw new Error("this Envoy does not say which extensions it has");
  return {
    version: `${major_number}.${minor_number}.${patch}`,
    extensions: extensions.map(({ name = "", category = "", type_urls = [] }) => ({
      name,
      category,
      types: type_urls,
    })),
  };
}
