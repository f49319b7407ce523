import { Command } from "commander";
import type { Terminal } from "../../output/terminal.js";
import { outputOption, type ServerOptions, serverOption } from "./server-options.js";

interface ExportArguments extends ServerOptions {
  readonly layer?: string;
}

const details = `
Prints one JSON file, which import reads, whatever --output says. Secrets are left out: the file has [redacted] in their place,
and import refuses the file until you write them there. It has no layers of folders: the folder is their copy.
Docs: docs/changes.md

Exit status: 0 when all of it is printed, 1 if not or if no server answers, 2 if the usage is wrong.

Example:
  $ xdskit export > backup.json
`;

/** `xdskit export`: prints what the writable layers hold. */
export function exportCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("export")
    .description("Prints the content of all writable layers of a running server.")
    .option("--layer <name>", "only this layer (default: all writable ones)")
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async ({ server, layer }: ExportArguments) => {
      const { runExport } = await import("../../transfer/run-export.js");
      exit(await runExport({ server, layer }, terminal));
    });
}
