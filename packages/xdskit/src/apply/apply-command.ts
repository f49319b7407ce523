import { Command } from "commander";
import { collect } from "../arguments/arguments.js";
import { addChangeOptions, type ChangeArguments, changeOptions } from "../arguments/change-options.js";
import type { Terminal } from "../output/terminal.js";

interface ApplyArguments extends ChangeArguments {
  readonly filename: readonly string[];
  readonly layer: string;
  readonly prune?: boolean;
  readonly descriptors?: readonly string[];
}

const details = `
Checks the files here first: an error names file and line, and nothing is sent. The server takes all of it or nothing,
and keeps it as a revision. --wait says how many nodes acknowledged it, which rejected it and why, and which did not
answer. Docs: docs/changes.md

Exit status: 0 when it is done or nothing differs, 1 if it failed, was rejected, or did not arrive in time, 2 if the usage
is wrong or a file is not there, 3 if --dry-run finds differences.

Examples:
  $ xdskit apply -f cluster.yaml
  $ xdskit apply -f ./config --dry-run               what would differ, and in which stages clients would get it
  $ xdskit apply -f ./config --prune --wait=50%      the layer holds exactly that; wait for half of the nodes
  $ sed s/v1/v2/ route.yaml | xdskit apply -f - --wait --message "checkout goes to v2"
`;

/** `xdskit apply`: sends files to a layer of a running server. */
export function applyCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("apply")
    .description("Puts the resources of files into a layer of a running server, as one change.")
    .requiredOption("-f, --filename <file>", "a file, a folder, or - for standard input; may be repeated", collect)
    .option("--layer <name>", "the layer", "api")
    .option("--prune", "remove all other resources of the layer: it holds exactly these afterwards")
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect);
  return addChangeOptions(command)
    .addHelpText("after", details)
    .action(async (options: ApplyArguments, self: Command) => {
      const { filename: files, layer, prune = false, descriptors = [] } = options;
      const { runApply } = await import("./run-apply.js");
      exit(await runApply({ ...changeOptions(self, options), files, layer, prune, descriptors }, terminal));
    });
}
