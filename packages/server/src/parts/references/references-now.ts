import type { References } from "../../contracts/kernel-options.js";
import type { Kernel } from "../../contracts/parts/kernel.js";

/** What the judges of references need of the server. */
export type JudgingKernel = Pick<Kernel, "options" | "live" | "types">;

/** How references are judged now. */
export function referencesNow({ live }: JudgingKernel): References {
  return live.references ?? "warn";
}
