import { XdskitError } from "@xdskit/api";
import { type ComparedFolders, compareFolders, type FoldersToCompare } from "../comparison/compare-folders.js";
import { type ComparisonOutput, printComparison } from "../comparison/comparison-output.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { isMissingFile } from "../process/missing-file.js";

/**
 * Prints what differs between two folders. Resolves to the exit status: 0 if nothing does, 3 if something does, 1 if a
 * folder has errors, 2 if it does not exist or the usage is wrong.
 */
export async function diffFolders(options: FoldersToCompare & ComparisonOutput, terminal: Terminal): Promise<number> {
  let compared: ComparedFolders;
  try {
    compared = await compareFolders(options);
  } catch (error) {
    reportFailure(terminal, "diff", error);
    const named = [options.settings, ...options.descriptors];
    const isWrongUsage = !(error instanceof XdskitError) || isMissingFile(error, named);
    return isWrongUsage ? exitStatus.usage : exitStatus.failed;
  }
  printComparison(compared, options, terminal);
  return differs(compared) ? exitStatus.differs : exitStatus.ok;
}

/** Groups may differ though no resource does, such as in the order of their folders. */
function differs({ changes, groups }: ComparedFolders): boolean {
  return changes.length > 0 || groups.some((group) => group.kind !== "planned" || group.plan.stages.length > 0);
}
