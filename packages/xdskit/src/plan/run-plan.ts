import { type ComparedFolders, compareFolders, type FoldersToCompare } from "../comparison/compare-folders.js";
import { type ComparisonOutput, printComparison } from "../comparison/comparison-output.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";

export type PlanOptions = FoldersToCompare & ComparisonOutput;

/**
 * Prints how clients get from one folder to another. Resolves to the exit status: 0, or 2 if a folder is not valid or
 * the usage is wrong.
 */
export async function runPlan(options: PlanOptions, terminal: Terminal): Promise<number> {
  let compared: ComparedFolders;
  try {
    compared = await compareFolders(options);
  } catch (error) {
    reportFailure(terminal, "plan", error);
    return exitStatus.usage;
  }
  printComparison(compared, options, terminal);
  return exitStatus.ok;
}
