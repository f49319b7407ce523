import type { KubernetesService, ServicePort } from "../objects/service.js";

/** The usual domain of a cluster's own names. */
const clusterDomain = "cluster.local";

/** What the route, the cluster and the load assignment of a port are called. */
export function portName(
  { namespace, name }: Pick<KubernetesService, "namespace" | "name">,
  { port }: ServicePort,
): string {
  return `${name}.${namespace}:${port}`;
}

/** The cluster of a port that answers for backends that nobody can call: calls of it fail at once. */
export function unresolvedName(port: string): string {
  return `${port}/unresolved`;
}

/** All targets by which clients may call a port: `xds:///` and one of these. */
export function targetsOf(service: KubernetesService, port: ServicePort): readonly string[] {
  const host = `${service.name}.${service.namespace}`;
  const hosts = [host, `${host}.svc`, `${host}.svc.${clusterDomain}`];
  const ports = [`:${port.port}`, ...(port.name === "" ? [] : [`:${port.name}`]), ...(isOnlyPort(service) ? [""] : [])];
  return hosts.flatMap((each) => ports.map((ending) => each + ending));
}

function isOnlyPort({ ports }: KubernetesService): boolean {
  return ports.length === 1;
}
