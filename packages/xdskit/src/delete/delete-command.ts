import { Command } from "commander";
import { addChangeOptions, type ChangeArguments, changeOptions } from "../arguments/change-options.js";
import type { Terminal } from "../output/terminal.js";

interface DeleteArguments extends ChangeArguments {
  readonly layer: string;
}

const details = `
All of them go as one change, or none: if one of them is not in the layer, nothing is deleted. Docs: docs/changes.md

Exit status: 0 when it is done, 1 if it failed, was rejected, or did not arrive in time, 2 if the usage is wrong, 3 if
--dry-run finds that something would go.

Examples:
  $ xdskit delete cluster web
  $ xdskit delete route main canary --dry-run
`;

/** `xdskit delete`: removes resources of a layer. */
export function deleteCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("delete")
    .description("Removes resources from a layer of a running server, as one change.")
    .argument("<type>", "cluster, endpoint, listener, route … (also cds, …), or a type URL")
    .argument("<name...>", "the names")
    .option("--layer <name>", "the layer", "api");
  return addChangeOptions(command)
    .addHelpText("after", details)
    .action(async (type: string, names: readonly string[], options: DeleteArguments, self: Command) => {
      const { runDelete } = await import("./run-delete.js");
      const { layer } = options;
      exit(await runDelete({ ...changeOptions(self, options), type, names, layer }, terminal));
    });
}
