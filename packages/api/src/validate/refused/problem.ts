import type { XdskitErrorCode } from "../../errors/error-codes.js";
import type { FieldStep } from "../../errors/field-path.js";
import { shortened } from "../../errors/shortened.js";

/** Something that clients refuse although no rule in the protos forbids it. */
export interface SpecialProblem {
  readonly code: XdskitErrorCode;
  readonly severity: "error" | "warning";
  readonly steps: readonly FieldStep[];
  readonly message: string;
}

/** Refused by every build of Envoy. */
export function refused(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { code: "XDSKIT_CLIENTS_REFUSE", severity: "error", steps, message };
}

/** Refused by Envoy, but accepted by gRPC's clients, which read the same field. */
export function refusedByEnvoy(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { ...refused(steps, `${message}; Envoy refuses it, gRPC's clients take it`), severity: "warning" };
}

/** A value of any length, in quotes for a message. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

/** The same problem, inside a nested message. */
export function below(steps: readonly FieldStep[], problem: SpecialProblem): SpecialProblem {
  return { ...problem, steps: [...steps, ...problem.steps] };
}
