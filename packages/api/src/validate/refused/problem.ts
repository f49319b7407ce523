import type { XdskitErrorCode } from "../../errors/error-codes.js";
import type { FieldStep } from "../../errors/field-path.js";
import { shortened } from "../../errors/shortened.js";

/** Something that clients refuse although no rule in the protos forbids it. */
export interface SpecialProblem {
  readonly code: XdskitErrorCode;
  readonly severity: "error" | "warning";
  readonly steps: readonly FieldStep[];
  readonly message: string;
  /** Of a format string, the unknown command, "" for none: some messages and extensions bring commands of their own. */
  readonly command?: string;
}

/** Of a message that is fine: most are, so no list is made for each. */
export const none: readonly SpecialProblem[] = [];

/** Refused by every build of Envoy. */
export function refused(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { code: "XDSKIT_CLIENTS_REFUSE", severity: "error", steps, message };
}

/** Refused by Envoy, but accepted by gRPC's clients, which read the same field. */
export function refusedByEnvoy(steps: readonly FieldStep[], message: string): SpecialProblem {
  return { ...refused(steps, acceptedByGrpc(message)), severity: "warning" };
}

/** Says who refuses something that both read. */
export function acceptedByGrpc(message: string): string {
  return `${message}; Envoy refuses it, but gRPC's clients accept it`;
}

/** A value of any length, in quotes for a message. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

/** The problems of a nested message, as those of the message around it. */
export function within(problems: readonly SpecialProblem[], ...steps: readonly FieldStep[]): readonly SpecialProblem[] {
  if (problems.length === 0) return problems;
  return problems.map((problem) => ({ ...problem, steps: [...steps, ...problem.steps] }));
}
