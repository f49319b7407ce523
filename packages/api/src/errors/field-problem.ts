import type { XdskitErrorCode } from "./error-codes.js";
import type { FieldStep } from "./field-path.js";

/** Something wrong with one field of a written message. */
export interface FieldProblem {
  readonly code: XdskitErrorCode;
  readonly steps: readonly FieldStep[];
  readonly message: string;
}
