import { Command } from "commander";
import { type ApiServerOptions, addServerOptions, outputOption } from "../arguments/api-server-options.js";
import { collect } from "../arguments/arguments.js";
import type { Terminal } from "../output/terminal.js";

interface ExportArguments extends ApiServerOptions {
  readonly layer?: string;
  readonly showSecrets?: boolean;
  readonly state?: string;
  readonly descriptors?: readonly string[];
}

const details = `
Writes one JSON file, which import reads, whatever --output says: to FILE, which only its owner can read, or to standard
output. It is the content of all layers at one moment. Layers of folders are not in it: the folder itself is their copy.
Secrets are left out: the file has [redacted] in their place, and import refuses the file until you write them there.
With --show-secrets they are read from the server's state, on its machine. Docs: docs/changes.md

Exit status: 0 when all of it is written, 1 if not or if no server answers, 2 if the usage is wrong.

Examples:
  $ xdskit export > backup.json
  $ xdskit export backup.json --show-secrets --state /var/lib/xdskit
`;

/** `xdskit export`: prints what the writable layers hold. */
export function exportCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("export"))
    .description("Prints the content of all writable layers of a running server.")
    .argument("[file]", "where to write it; -: standard output (default)")
    .option("--layer <name>", "only this layer (default: all writable ones)")
    .option("--show-secrets", "write secrets, too: read from the server's state on this machine; needs FILE")
    .option("--state <dir>", "where that state is: what the server's --state says (default: as for serve)")
    .option("--descriptors <file>", "a descriptor set with messages of your own; may be repeated", collect)
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (file: string | undefined, options: ExportArguments, self: Command) => {
      const { server, layer, showSecrets = false, state, descriptors = [] } = options;
      if (showSecrets && file === undefined)
        self.error("error: --show-secrets needs a FILE, which only its owner can read (-: standard output)");
      if (state !== undefined && !showSecrets) self.error("error: --state is for --show-secrets");
      const { runExport } = await import("./run-export.js");
      exit(await runExport({ server, layer, file: file ?? "-", showSecrets, state, descriptors }, terminal));
    });
}
