/** One step into a message: a field by its proto name, an element of a repeated field, or an entry of a map. */
export type FieldStep = string | number | { readonly key: string };

/** The path from a message to one of its fields, as a linked list that ends at the root: extending it is cheap. */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly step: FieldStep;
}

/** A path with one more step. */
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

/** Text in the place of a field name that cannot be a name may be a value that slipped there, perhaps a secret's. */
function isShown(name: string): boolean {
  return name.length <= 128 && !/\s/.test(name);
}
