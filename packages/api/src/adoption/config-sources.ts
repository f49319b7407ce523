import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fieldOf, isObject, textOf } from "./form.js";

/** Tells the clusters that a resource names as management servers of its parts. Envoy takes only clusters of its own bootstrap for that. */
export function eachServerNamedIn(json: JsonValue, tell: (cluster: string) => void): void {
  if (typeof json !== "object" || json === null) return;
  for (const key in json) {
    const value = (json as JsonObject)[key];
    if (typeof value !== "object" || value === null) continue;
    if (isObject(value) && (key === "api_config_source" || key === "apiConfigSource")) tellServers(value, tell);
    else eachServerNamedIn(value, tell);
  }
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
