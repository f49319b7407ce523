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

/** The same problem, of a message further inside. */
export function below(steps: readonly FieldStep[], problem: SpecialProblem): SpecialProblem {
  return { ...problem, steps: [...steps, ...problem.steps] };
}
