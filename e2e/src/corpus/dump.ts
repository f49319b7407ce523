import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import type { Case } from "../../../packages/api/src/testing/corpus/index.js";
import { schemaOf } from "./judged.js";

/** A field that Envoy gives back as something else than it was sent. */
export interface Rewritten {
  readonly of: Case;
  /** Where, without indexes. */
  readonly path: string;
  readonly sent: string;
  readonly given: string;
}

/** Whether it is a secret that Envoy hides, as `[redacted]`, in bytes in base64. */
export function isHidden({ given }: Rewritten): boolean {
  return given === '"[redacted]"' || given === '"W3JlZGFjdGVkXQ=="';
}

const parts = ["dynamic_active_clusters", "dynamic_warming_clusters", "dynamic_listeners"];

/**
 * What Envoy's admin page says that it has of these clusters and listeners, compared field by field with what they
 * are.
 */
export async function rewrittenIn(cases: readonly Case[], admin: string): Promise<readonly Rewritten[]> {
  const wanted = new Map(cases.map((of) => [String(of.resource.name), of]));
  const rewritten: Rewritten[] = [];
  for (const part of parts) {
    for (const config of await dumped(admin, part)) {
      const state = (config.active_state ?? config.warming_state ?? config) as JsonObject;
      const given = (state.cluster ?? state.listener) as JsonObject | undefined;
      const of = wanted.get(String(given?.name));
      if (given !== undefined && of !== undefined) rewritten.push(...differences(of, given));
    }
  }
  return rewritten;
}

/** A part of the dump; empty where Envoy cannot write it as JSON. */
async function dumped(admin: string, part: string): Promise<readonly JsonObject[]> {
  const response = await fetch(`http://${admin}/config_dump?resource=${part}`, { signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  try {
    return (JSON.parse(text) as { readonly configs?: readonly JsonObject[] }).configs ?? [];
  } catch {
    console.error(`no JSON in Envoy's ${part}: ${text.slice(0, 300)}`);
    return [];
  }
}

/** Both go through messages: what is compared is what the fields hold, whatever their names in JSON look like. */
function differences(of: Case, given: JsonObject): Rewritten[] {
  const registry = envoyRegistry();
  const schema = schemaOf(of);
  const canonical = ({ "@type": _, ...json }: JsonObject): JsonValue =>
    toJson(schema, fromJson(schema, json, { registry }), { registry, useProtoFieldName: true });
  const found: Rewritten[] = [];
  const compare = (sent: JsonValue | undefined, back: JsonValue | undefined, path: string): void => {
    if (JSON.stringify(sent) === JSON.stringify(back)) return;
    const isObject = (value: JsonValue | undefined): value is JsonObject => typeof value === "object" && value !== null;
    if (!isObject(sent) || !isObject(back)) {
      found.push({ of, path, sent: JSON.stringify(sent) ?? "nothing", given: JSON.stringify(back) ?? "nothing" });
      return;
    }
    for (const key of new Set([...Object.keys(sent), ...Object.keys(back)])) {
      compare(sent[key], back[key], Array.isArray(sent) ? path : `${path}.${key}`);
    }
  };
  try {
    compare(canonical(of.resource), canonical(given), of.type);
  } catch (error) {
    found.push({ of, path: of.type, sent: "a message", given: `what is none: ${String(error)}` });
  }
  return found;
}

/**
 * Resources that Envoy does not show as they are, in one that it does: routes in a listener, endpoints in a cluster.
 */
export function shown(of: Case, index: number): Case | undefined {
  const { "@type": _, ...inner } = of.resource;
  const name = `shown-${index}`;
  if (of.type === "envoy.config.route.v3.RouteConfiguration") {
    const type = "envoy.config.listener.v3.Listener";
    const manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    const router = "envoy.extensions.filters.http.router.v3.Router";
    return {
      ...of,
      type,
      resource: {
        "@type": `type.googleapis.com/${type}`,
        name,
        address: { socket_address: { address: "127.0.0.1", port_value: 10_000 + (index % 50_000) } },
        bind_to_port: false,
        filter_chains: [
          {
            filters: [
              {
                name: "manager",
                typed_config: {
                  "@type": `type.googleapis.com/${manager}`,
                  stat_prefix: "shown",
                  route_config: inner as JsonObject,
                  http_filters: [{ name: "router", typed_config: { "@type": `type.googleapis.com/${router}` } }],
                },
              },
            ],
          },
        ],
      },
    };
  }
  if (of.type === "envoy.config.endpoint.v3.ClusterLoadAssignment") {
    const type = "envoy.config.cluster.v3.Cluster";
    const resource = { name, connect_timeout: "1s", type: "STATIC", load_assignment: inner as JsonObject };
    return { ...of, type, resource: { "@type": `type.googleapis.com/${type}`, ...resource } };
  }
  return undefined;
}
