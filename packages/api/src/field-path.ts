/** One step into a message: a field by its proto name, an element of a repeated field, or an entry of a map. */
export type FieldStep = string | number | { readonly key: string };

/** The way from a message to one of its fields, as a list that ends at the root: extending it costs nothing on the good path. */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly step: FieldStep;
}

/** A path that is one step longer. */
export function stepInto(parent: FieldPath | undefined, step: FieldStep): FieldPath {
  return { parent, step };
}

/** The steps from the root. */
export function stepsOf(path: FieldPath | undefined): FieldStep[] {
  const steps: FieldStep[] = [];
  for (let at = path; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.reverse();
}

/** `load_assignment.endpoints[0].locality`; a map's entry is `metadata["key"]`. Undefined for the root itself. */
export function formatFieldPath(steps: readonly FieldStep[]): string | undefined {
  if (steps.length === 0) return undefined;
  let text = "";
  for (const step of steps) {
    if (typeof step === "number") text += `[${step}]`;
    else if (typeof step === "object") text += `[${JSON.stringify(step.key)}]`;
    else text += `${text === "" ? "" : "."}${isShown(step) ? step : "…"}`;
  }
  return text;
}

/** What stands in a field's place and cannot be meant for its name may be a value that slipped there, perhaps a secret's. */
function isShown(name: string): boolean {
  return name.length <= 128 && !/\s/.test(name);
}
