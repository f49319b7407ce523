import type { FieldStep } from "@xdskit/api";

/**
 * The field that a client names in its words against a resource, as the steps from the resource; undefined: it names
 * none. Envoy's rules say it so: `ClusterLoadAssignmentValidationError.Endpoints[0]: embedded message failed validation
 * | caused by LocalityLbEndpointsValidationError.Priority: value must be …`. An index in brackets is of a list, or a
 * key of a map.
 */
export function fieldNamedIn(message: string): readonly FieldStep[] | undefined {
  const steps: FieldStep[] = [];
  for (const [, name = "", index] of message.matchAll(/\w+ValidationError\.([A-Za-z0-9]+)(?:\[([^\]]{0,200})\])?/g)) {
    steps.push(protoName(name));
    if (index === undefined) continue;
    steps.push(/^\d{1,9}$/.test(index) ? Number(index) : { key: index });
  }
  return steps.length === 0 ? undefined : steps;
}

/** `ConnectTimeout` is `connect_timeout`. */
function protoName(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]|(?<!^)[A-Z](?=[a-z])/g, (letter) => `_${letter}`).toLowerCase();
}

/** `endpoints[0].priority`. */
export function fieldText(steps: readonly FieldStep[]): string {
  const texts = steps.map((step) =>
    typeof step === "string" ? `.${step}` : `[${typeof step === "number" ? step : step.key}]`,
  );
  return texts.join("").replace(/^\./, "");
}
