import type { Finding } from "../errors/errors.js";
import { formatFieldPath } from "../errors/field-path.js";
import type { Resource } from "../resources/resource.js";
import type { KeptAsBytes } from "../unknown/json-writer.js";

/** A warning for each part of a resource that its JSON has only in base64. */
export function keptFindings(
  { type, name }: Pick<Resource, "type" | "name">,
  kept: readonly KeptAsBytes[],
): readonly Finding[] {
  return kept.map(({ steps, what }) => ({
    code: "XDSKIT_NOT_IN_JSON",
    severity: "warning",
    message: `${what}: JSON has no form for it; it is there in base64, which xdskit reads and Envoy does not`,
    type: type.name,
    resource: name,
    field: formatFieldPath(steps),
  }));
}
