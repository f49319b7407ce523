import type { Finding, Resource } from "@xdskit/api";
import type { Input } from "./input.js";

/** A server's findings with the places where their resources are written here, instead of those in the request. */
export function findingsInFiles(findings: readonly Finding[], input: Pick<Input, "resources" | "whereIs">): Finding[] {
  const byName = new Map<string, Resource>();
  for (const resource of input.resources) {
    byName.set(`${resource.type.name} ${resource.name}`, resource);
    byName.set(`${resource.type.typeUrl} ${resource.name}`, resource);
  }
  return findings.map((finding) => {
    const resource = byName.get(`${finding.type} ${finding.resource}`);
    if (resource === undefined && finding.file !== "body") return finding;
    const where = resource && input.whereIs(resource);
    const { file: _, line: __, column: ___, ...rest } = finding;
    return where === undefined ? rest : { ...rest, ...where, field: finding.field };
  });
}
