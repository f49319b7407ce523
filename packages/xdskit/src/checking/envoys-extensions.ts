import {
  type FieldStep,
  type Finding,
  formatEnvoyVersion,
  missingExtensions,
  newestEnvoyVersion,
  type Registry,
  type Resource,
  type Where,
} from "@xdskit/api";

/**
 * A warning for each configured extension that Envoy, as it is shipped, lacks. The user's Envoys may be built with it.
 */
export function extensionsThatEnvoyLacks(
  resources: Iterable<Resource>,
  registry: Registry,
  whereField: (resource: Resource, steps: readonly FieldStep[]) => Where | undefined,
): readonly Finding[] {
  const findings: Finding[] = [];
  for (const resource of resources) {
    const { schema, name } = resource.type;
    if (schema === undefined) continue;
    for (const { type, steps, isContrib } of missingExtensions(schema, resource.body, registry)) {
      const rest = isContrib ? "its contrib build has it" : "an Envoy rejects it unless it was built with it";
      findings.push({
        code: "XDSKIT_EXTENSION_MISSING",
        severity: "warning",
        message: `${JSON.stringify(type)} is no extension of Envoy ${formatEnvoyVersion(newestEnvoyVersion())} as it is shipped; ${rest}`,
        ...whereField(resource, steps),
        type: name,
        resource: resource.name,
      });
    }
  }
  return findings;
}
