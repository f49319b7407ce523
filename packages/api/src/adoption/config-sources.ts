import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject, keysOfStep } from "../text/source-document.js";
import { fieldOf, textOf } from "./form.js";

/** Fields that name a management server, in both spellings. */
const sources = new Set(["api_config_source", "ads_config", "hds_config"].flatMap(keysOfStep));

/** The clusters that a resource names as management servers. Envoy accepts only clusters from its bootstrap there. */
export function eachServerNamedIn(json: JsonValue, tell: (cluster: string) => void): void {
  if (typeof json !== "object" || json === null) return;
  for (const key in json) {
    const value = (json as JsonObject)[key];
    if (typeof value !== "object" || value === null) continue;
    if (isObject(value) && sources.has(key)) tellServers(value, tell);
    else eachServerNamedIn(value, tell);
  }
}

/**
 * The clusters by which an Envoy with this bootstrap reaches its management servers. No Envoy takes those from a
 * server.
 */
export function serversOfBootstrap(bootstrap: JsonObject): ReadonlySet<string> {
  const { static_resources: _, staticResources: __, ...others } = bootstrap;
  const names = new Set<string>();
  eachServerNamedIn(others, (cluster) => names.add(cluster));
  return names;
}

function tellServers(source: JsonObject, tell: (cluster: string) => void): void {
  for (const service of listIn(source, "grpc_services")) {
    const envoy = isObject(service) ? fieldOf(service, "envoy_grpc") : undefined;
    const name = isObject(envoy) ? textOf(envoy, "cluster_name") : undefined;
    if (name !== undefined) tell(name);
  }
  for (const name of listIn(source, "cluster_names")) if (typeof name === "string") tell(name);
}

function listIn(object: JsonObject, field: string): readonly JsonValue[] {
  const list = fieldOf(object, field);
  return Array.isArray(list) ? list : [];
}
