import type { FindingJson, GroupResource } from "../api/types.js";

/** A Service of Kubernetes, with the load assignments of its ports, and what is not followed of it. */
export interface ServiceRow {
  readonly namespace: string;
  readonly name: string;
  readonly ports: readonly GroupResource[];
  readonly findings: readonly FindingJson[];
}

/** Whether nobody answers there. */
export function isEmpty({ health }: Pick<GroupResource, "health">): boolean {
  return health === null || health === "none";
}

/**
 * The Services that load assignments were made of, and others with findings in namespaces that begin so: first those
 * with a port where nobody answers, or a finding.
 */
export function servicesOf(
  rows: readonly GroupResource[],
  findings: readonly FindingJson[],
  namespaces = "",
): readonly ServiceRow[] {
  const found = new Map<string, ServiceRow & { readonly ports: GroupResource[] }>();
  const add = (file: string | undefined, row?: GroupResource) => {
    const [, namespace = "", name = ""] = /^Service ([^/]+)\/(.+)$/.exec(file ?? "") ?? [];
    if (name === "" || (row === undefined && !namespace.startsWith(namespaces))) return;
    const key = `${namespace}/${name}`;
    const service = found.get(key) ?? { namespace, name, ports: [], findings: findings.filter(isAbout(key)) };
    // Clients at some places have a load assignment of their own, with the same endpoints.
    if (row !== undefined && !service.ports.some((port) => port.name === row.name)) service.ports.push(row);
    found.set(key, service);
  };
  for (const row of rows) add(row.where?.file, row);
  // One of the type ExternalName has no load assignment, nor has one that is not served.
  for (const { file } of findings) add(file);
  const rank = (one: ServiceRow) => (one.ports.some(isEmpty) ? 0 : one.findings.length > 0 ? 1 : 2);
  const text = ({ namespace, name }: ServiceRow) => `${namespace}/${name}`;
  return [...found.values()].sort((a, b) => rank(a) - rank(b) || (text(a) < text(b) ? -1 : 1));
}

/** Findings about other objects of namespaces that begin so, or about none. */
export function otherFindings(findings: readonly FindingJson[], namespace: string): readonly FindingJson[] {
  return findings.filter(({ file = "" }) => {
    const [, kind, of = ""] = /^(\w+) ([^/]+)\//.exec(file) ?? [];
    return kind !== "Service" && (kind === undefined || of.startsWith(namespace));
  });
}

function isAbout(key: string) {
  return ({ file }: FindingJson) => file === `Service ${key}`;
}
