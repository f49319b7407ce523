import type { Finding } from "../errors.js";
import { formatFieldPath } from "../field-path.js";
import type { Resource } from "../resource.js";
import type { KeptAsBytes } from "./json-writer.js";

/** A warning for each thing of a resource that its JSON has in base64 only. */
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
