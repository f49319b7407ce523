import { type Finding, type Resource, throwIfAny } from "@xdskit/api";
import { foreignAuthority } from "@xdskit/protocol";

/**
 * Refuses resources whose names have an authority that is not served, since no client could get them. Throws an
 * XdskitError that lists all of them. A name without an authority belongs to every server.
 */
export function refuseForeign(resources: readonly Resource[], authorities: ReadonlySet<string> | undefined): void {
  if (authorities === undefined) return;
  throwIfAny(resources.flatMap((resource) => foreignFinding(resource, authorities) ?? []));
}

/** Why the server refuses a resource whose name has an authority that is not served; undefined: it does not. */
export function foreignFinding(
  { type, name }: Resource,
  authorities: ReadonlySet<string> | undefined,
): Finding | undefined {
  const authority = foreignAuthority(name, authorities);
  if (authority === undefined) return undefined;
  const message = `the authority ${JSON.stringify(authority)} is none of those that are served: ${[...(authorities ?? [])].join(", ")}`;
  return { code: "XDSKIT_AUTHORITY", severity: "error", message, type: type.name, resource: name };
}
