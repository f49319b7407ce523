import { Command } from "commander";
import { addChangeOptions, type ChangeArguments, changeOptions, readWait } from "../arguments/change-options.js";
import type { Terminal } from "../output/terminal.js";

interface RollbackArguments extends ChangeArguments {
  readonly layer?: string;
  readonly yes?: boolean;
}

const details = `
It is a new revision, which is served at once. Without REVISION it takes the
newest change back. A terminal shows that change and asks, unless --yes is
given. Elsewhere nobody is asked; where several layers could go back, it needs
--layer or --yes (the newest change of all), and does nothing without them.
A folder's layer stays rolled back until the folder changes again: undo the
mistake in the folder, too.
REVISION is an id that history lists, its beginning (at least 4 characters), or
a number: 7, or api#7 where several layers have it.
Docs: docs/changes.md

Exit status: 0 when it is done or nothing differs, 1 if it failed, was rejected,
did not arrive in time, or the answer was no, 2 if the usage is wrong or nobody
said which change, 3 if --dry-run finds differences.

Examples:
  $ xdskit rollback                       show the newest change, and take it back
  $ xdskit rollback --layer api --wait    of a layer, and wait for all nodes
  $ xdskit rollback 3f9aKd --dry-run      what would differ
`;

/** `xdskit rollback`: serves an older revision of a layer again. */
export function rollbackCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("rollback")
    .description("Gives a layer of a running server the content of an older revision.")
    .argument("[revision]", "its id, the beginning of it, or its number (default: the one before the newest)")
    .option("--layer <name>", "the layer (default: the one of the revision, or the one with the newest change)")
    .option("-y, --yes", "take the newest change back, and ask nobody");
  return addChangeOptions(command)
    .addHelpText("after", details)
    .action(async (named: string | undefined, options: RollbackArguments, self: Command) => {
      const { revision, wait } = withoutRevision(named, options.wait);
      const { runRollback } = await import("./run-rollback.js");
      const { layer, yes } = options;
      exit(await runRollback({ ...changeOptions(self, { ...options, wait }), revision, layer, yes }, terminal));
    });
}

/** In `rollback --wait 3f9aKd` the word behind `--wait` is the revision. */
function withoutRevision(revision: string | undefined, wait: string | true | undefined) {
  if (revision !== undefined || wait === undefined || wait === true) return { revision, wait };
  try {
    readWait(wait);
    return { revision, wait };
  } catch {
    return { revision: wait, wait: true as const };
  }
}
