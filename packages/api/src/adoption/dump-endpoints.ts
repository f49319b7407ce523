import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { FieldStep } from "../errors/field-path.js";
import { isObject } from "../text/source-document.js";
import { type FormPart, fieldOf, objectsIn, type Taker, textOf } from "./form.js";

/**
 * The names of load assignments that EDS clusters of the same dump request. Undefined if the dump says nothing about
 * clusters. Envoy lists the endpoints of every cluster, including clusters that hold their endpoints themselves.
 */
export type EndpointsWanted = ReadonlySet<string> | undefined;

/** Takes the load assignments of `EndpointsConfigDump`. */
export function takeEndpoints(section: FormPart, taker: Taker, wanted: EndpointsWanted): void {
  for (const list of ["static_endpoint_configs", "dynamic_endpoint_configs"]) {
    for (const { object, steps } of objectsIn(section, list, taker)) {
      const item = fieldOf(object, "endpoint_config");
      const name = isObject(item) ? textOf(item, "cluster_name") : undefined;
      const isWanted = wanted === undefined ? list.startsWith("dynamic") : wanted.has(name ?? "");
      if (item === undefined) continue;
      if (isWanted) takeLoadAssignment(item, [...steps, "endpoint_config"], taker);
      else taker.leaveOut("load assignment of a cluster without EDS", 1);
    }
  }
}

/**
 * Takes a load assignment from a dump. Reports momentary state that is mixed into it, and removes fields that are not
 * settings.
 */
export function takeLoadAssignment(item: JsonValue, steps: readonly FieldStep[], taker: Taker, type?: string): void {
  if (!isObject(item)) {
    taker.take(item, steps, { type });
    return;
  }
  const localities = fieldOf(item, "endpoints");
  if (!Array.isArray(localities)) {
    taker.take(item, steps, { type, isState: true });
    return;
  }
  const { endpoints: _, ...others } = item;
  taker.take({ ...others, endpoints: localities.map(withoutNoWeight) }, steps, { type, isState: true });
  const unhealthy = countUnhealthy(localities);
  if (unhealthy === 0) return;
  const message = `${unhealthy} of its endpoints ${unhealthy === 1 ? "is" : "are"} UNHEALTHY, as when the dump was made: no client that is told so sends anything there`;
  taker.find("XDSKIT_DUMPED_STATE", message, steps, "warning");
}

/** Envoy writes 0 for a locality without a weight, and does not accept that value itself. */
function withoutNoWeight(locality: JsonValue): JsonValue {
  if (!isObject(locality) || fieldOf(locality, "load_balancing_weight") !== 0) return locality;
  const { load_balancing_weight: _, loadBalancingWeight: __, ...others } = locality;
  return others;
}

function countUnhealthy(localities: readonly JsonValue[]): number {
  let count = 0;
  for (const locality of localities) {
    const endpoints = isObject(locality) ? fieldOf(locality, "lb_endpoints") : undefined;
    if (!Array.isArray(endpoints)) continue;
    for (const endpoint of endpoints) {
      if (isObject(endpoint) && fieldOf(endpoint, "health_status") === "UNHEALTHY") count += 1;
    }
  }
  return count;
}

/** The load assignments that the clusters of a section request. */
export function endpointsWantedBy(clusters: readonly JsonObject[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const section of clusters) {
    for (const list of ["static_clusters", "dynamic_active_clusters"]) {
      const entries = fieldOf(section, list);
      if (!Array.isArray(entries)) continue;
      for (const entry of entries) {
        const cluster = isObject(entry) ? fieldOf(entry, "cluster") : undefined;
        const name = isObject(cluster) ? loadAssignmentOf(cluster) : undefined;
        if (name !== undefined) names.add(name);
      }
    }
  }
  return names;
}

function loadAssignmentOf(cluster: JsonObject): string | undefined {
  const eds = fieldOf(cluster, "eds_cluster_config");
  if (eds === undefined && fieldOf(cluster, "type") !== "EDS") return undefined;
  return (isObject(eds) ? textOf(eds, "service_name") : undefined) ?? textOf(cluster, "name");
}
