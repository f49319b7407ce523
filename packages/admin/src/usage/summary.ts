import { hostsOf, type Json, list, record } from "./json-parts.js";

/** Describes a resource in a few words. `json`: its content with the names of fields as in protos. */
export function resourceSummary(type: string, json: Json): string {
  const content = record(json.resource) ?? json;
  switch (type) {
    case "listener":
      return addressText(content.address) || (content.api_listener === undefined ? "" : "API listener");
    case "route":
      return routeText(content);
    case "virtual-host":
      return list(content.domains).join(", ");
    case "cluster":
      return clusterText(content);
    case "endpoint":
      return endpointText(content);
    default:
      return "";
  }
}

function addressText(address: unknown): string {
  const socket = record(record(address)?.socket_address);
  if (socket !== undefined) return `${socket.address ?? ""}:${socket.port_value ?? socket.named_port ?? ""}`;
  const path = record(record(address)?.pipe)?.path;
  return typeof path === "string" ? path : "";
}

function routeText(content: Json): string {
  const hosts = hostsOf(content);
  if (hosts.length === 0) return content.vhds === undefined ? "no virtual hosts" : "virtual hosts on demand";
  const domains = hosts.flatMap((host) => list(host.domains));
  return `${plural(hosts.length, "virtual host")}: ${domains.slice(0, 3).join(", ")}${domains.length > 3 ? " …" : ""}`;
}

function clusterText(content: Json): string {
  const type = typeof content.type === "string" ? content.type : record(content.cluster_type)?.name;
  const policy = typeof content.lb_policy === "string" ? content.lb_policy.toLowerCase().replaceAll("_", " ") : "";
  return [type ?? "STATIC", policy, content.transport_socket === undefined ? "" : "TLS"]
    .filter((part) => part !== "")
    .join(" · ");
}

/**
 * How many of the endpoints of a load assignment, or inside of a cluster, may be used; null: it has none. `json`: its
 * content with the names of fields as in protos.
 */
export function healthOf(json: Json): "well" | "some" | "none" | null {
  const content = record(json.resource) ?? json;
  const all = endpointsIn(record(content.load_assignment) ?? content);
  if (all.length === 0) return null;
  const sick = all.filter((one) => !isWell(record(one)?.health_status)).length;
  return sick === 0 ? "well" : sick === all.length ? "none" : "some";
}

function endpointsIn(assignment: Json): readonly unknown[] {
  return list(assignment.endpoints).flatMap((one) => list(record(one)?.lb_endpoints));
}

function endpointText(content: Json): string {
  const all = endpointsIn(content);
  const sick = all.filter((one) => !isWell(record(one)?.health_status)).length;
  if (all.length === 0) return "no endpoints";
  return `${plural(all.length, "endpoint")}${sick === 0 ? "" : `, ${sick} not healthy`}`;
}

function isWell(status: unknown): boolean {
  return status === undefined || status === "UNKNOWN" || status === "HEALTHY";
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
