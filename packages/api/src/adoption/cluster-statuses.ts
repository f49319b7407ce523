import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { getOrInsert } from "../names/get-or-insert.js";
import { isObject } from "../text/source-document.js";
import { type Form, type FormPart, fieldOf, objectsIn, type Taker, textOf, typeNames } from "./form.js";

/** The answer of Envoy's admin port to `/clusters?format=json`: the current endpoints of each cluster. */
export function clusterStatusesForm(value: JsonValue): Form | undefined {
  if (!isObject(value) || !Array.isArray(fieldOf(value, "cluster_statuses"))) return undefined;
  return {
    name: "the list of clusters of an Envoy's admin",
    isDump: true,
    take(taker) {
      for (const status of objectsIn({ object: value, steps: [] }, "cluster_statuses", taker))
        takeStatus(status, taker);
    },
  };
}

/** Whether an object is the status of a cluster. */
export function isStatus(object: JsonObject): boolean {
  return ["host_statuses", "observability_name", "added_via_api"].some((field) => fieldOf(object, field) !== undefined);
}

/**
 * Takes the endpoints of a cluster as its load assignment. A cluster of the bootstrap without an EDS name holds its
 * endpoints itself.
 */
export function takeStatus(status: FormPart, taker: Taker): void {
  const { object, steps } = status;
  const service = textOf(object, "eds_service_name");
  const name = service ?? (fieldOf(object, "added_via_api") === true ? textOf(object, "name") : undefined);
  if (name === undefined) {
    taker.leaveOut("cluster of a bootstrap", 1);
    return;
  }
  const localities = new Map<string, { locality: JsonValue; priority: JsonValue; hosts: JsonObject[] }>();
  for (const { object: host } of objectsIn(status, "host_statuses", taker)) {
    const locality = fieldOf(host, "locality") ?? {};
    const priority = fieldOf(host, "priority") ?? 0;
    const key = JSON.stringify([priority, locality]);
    getOrInsert(localities, key, () => ({ locality, priority, hosts: [] })).hosts.push(endpointOf(host));
  }
  const endpoints = Array.from(localities.values(), ({ locality, priority, hosts }) => ({
    locality,
    priority,
    lb_endpoints: hosts,
  }));
  taker.take({ cluster_name: name, endpoints }, steps, { type: typeNames.endpoint, isState: true });
}

function endpointOf(host: JsonObject): JsonObject {
  const hostname = textOf(host, "hostname");
  const weight = fieldOf(host, "weight");
  const health = fieldOf(host, "health_status");
  const status = isObject(health) ? textOf(health, "eds_health_status") : undefined;
  return {
    endpoint: { address: fieldOf(host, "address") ?? null, ...(hostname === undefined ? {} : { hostname }) },
    ...(weight === undefined || weight === 0 ? {} : { load_balancing_weight: weight }),
    ...(status === undefined || status === "HEALTHY" || status === "UNKNOWN" ? {} : { health_status: status }),
  };
}
