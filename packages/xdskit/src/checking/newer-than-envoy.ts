import {
  compareEnvoyVersions,
  describeNewerPart,
  type EnvoyVersion,
  type FieldStep,
  type Finding,
  formatEnvoyVersion,
  newerParts,
  newestEnvoyVersion,
  oldestEnvoyVersion,
  type Registry,
  type Resource,
  type Where,
} from "@xdskit/api";

/** What an Envoy does with a part that it does not know. */
const verdicts = { field: "ignores it", type: "rejects it", value: "does not know it" } as const;

/**
 * The parts of resources that Envoys of these versions do not know. An unknown extension is an error, since they reject
 * it; an unknown field or value is a warning.
 */
export function newerThanEnvoy(
  resources: Iterable<Resource>,
  versions: readonly EnvoyVersion[],
  registry: Registry,
  whereField: (resource: Resource, steps: readonly FieldStep[]) => Where | undefined,
): readonly Finding[] {
  if (versions.length === 0) return [];
  const findings: Finding[] = versions.flatMap((version) => unknownEnvoy(version) ?? []);
  for (const resource of resources) {
    const { schema } = resource.type;
    if (schema === undefined) continue;
    for (const version of versions) {
      for (const part of newerParts(schema, resource.body, version, registry)) {
        findings.push({
          code: "XDSKIT_ENVOY_TOO_OLD",
          severity: part.kind === "type" ? "error" : "warning",
          message: `${describeNewerPart(part)}; Envoy ${formatEnvoyVersion(version)} ${verdicts[part.kind]}`,
          ...whereField(resource, part.steps),
          type: resource.type.name,
          resource: resource.name,
        });
      }
    }
  }
  return findings;
}

/** What is said about a version that the table does not have; undefined: it has it. */
function unknownEnvoy(version: EnvoyVersion): Finding | undefined {
  const [oldest, newest] = [oldestEnvoyVersion, newestEnvoyVersion()];
  const isOlder = compareEnvoyVersions(version, oldest) < 0;
  if (!isOlder && compareEnvoyVersions(version, newest) <= 0) return undefined;
  const [how, so] = isOlder ? ["older", "it may lack more than is reported"] : ["newer", "nothing is reported for it"];
  const known = `${formatEnvoyVersion(oldest)} to ${formatEnvoyVersion(newest)}`;
  const message = `Envoy ${formatEnvoyVersion(version)} is ${how} than those that are known (${known}): ${so}`;
  return { code: "XDSKIT_ENVOY_UNKNOWN", severity: "warning", message };
}
