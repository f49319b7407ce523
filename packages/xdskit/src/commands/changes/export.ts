import { Command } from "commander";
import type { Terminal } from "../../output/terminal.js";
import { outputOption, type ServerOptions, serverOption } from "./server-options.js";

interface Options extends ServerOptions {
  readonly layer?: string;
}

const details = `
Prints one JSON file, which import reads, whatever --output says. Secrets are left out: they stand there as [redacted],
and import refuses the file until you write them there. Layers that a folder fills are not in it: the folder is.
Docs: docs/changes.md

Exit status: 0 when all of it is printed, 1 if not or if no server answers, 2 if the usage is wrong.

Example:
  $ xdskit export > backup.json
`;

/** `xdskit export`: prints what the writable layers hold. */
export function exportCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("export")
    .description("Prints all that the writable layers of a running server hold.")
    .option("--layer <name>", "only this layer (default: all that can be written)")
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async ({ server, layer }: Options) => {
      const { runExport } = await import("../../transfer/run-export.js");
      exit(await runExport({ server, layer }, terminal));
    });
}
