import type { FieldStep } from "../../field-path.js";
import type { SpecialProblem } from "../special-checks.js";

/** What an Envoy of whatever build refuses. */
export function refused(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { code: "XDSKIT_CLIENTS_REFUSE", severity: "error", steps, message };
}

/** What Envoy refuses, and gRPC's clients, who read the same field, take. */
export function refusedByEnvoy(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { ...refused(steps, `${message}; Envoy refuses it, gRPC's clients take it`), severity: "warning" };
}

/** More characters of a value say no more to who reads a finding. */
const mostQuoted = 100;

/** A value of whatever length, as a message says it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= mostQuoted ? text : `${text.slice(0, mostQuoted)}…`);
}

/** The same problem, of a message further inside. */
export function below(steps: readonly FieldStep[], problem: SpecialProblem): SpecialProblem {
  return { ...problem, steps: [...steps, ...problem.steps] };
}
