import { Command } from "commander";
import { collect } from "../arguments/arguments.js";
import { addChangeOptions, type ChangeArguments, changeOptions } from "../arguments/change-options.js";
import type { Terminal } from "../output/terminal.js";

interface ImportArguments extends ChangeArguments {
  readonly descriptors?: readonly string[];
}

const details = `
Afterwards each layer holds exactly the resources that the file has for it: all others go. Each layer is one change,
which the server takes whole or not at all. A file with [redacted] in it is refused. Docs: docs/changes.md

Exit status: 0 when it is done or nothing differs, 1 if it failed, was rejected, or did not arrive in time, 2 if the usage
is wrong or the file is not there, 3 if --dry-run finds differences.

Examples:
  $ xdskit import backup.json --dry-run
  $ xdskit import backup.json --wait
`;

/** `xdskit import`: restores what `export` printed. */
export function importCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("import")
    .description("Restores the layers that export printed.")
    .argument("<file>", "the file, or - for standard input")
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect);
  return addChangeOptions(command)
    .addHelpText("after", details)
    .action(async (file: string, options: ImportArguments, self: Command) => {
      const { runImport } = await import("./run-import.js");
      const { descriptors = [] } = options;
      exit(await runImport({ ...changeOptions(self, options), file, descriptors }, terminal));
    });
}
