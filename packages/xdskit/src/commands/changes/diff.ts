import { Command } from "commander";
import type { Terminal } from "../../output/terminal.js";
import { collect } from "../arguments.js";
import { outputOption } from "./server-options.js";

interface Options {
  readonly settings?: string;
  readonly descriptors?: readonly string[];
  readonly group?: string;
  readonly full?: boolean;
  readonly output: "text" | "json";
}

const details = `
Prints what differs in each resource as lines of YAML, and then the stages in which clients get the change. Secrets are
not shown. Docs: docs/changes.md

Exit status: 0 if nothing differs, 3 if something does, 1 if a folder has errors, 2 if the usage is wrong or there is no
such folder.

Examples:
  $ xdskit diff ./config ./config.new
  $ git worktree add ../live main && xdskit diff ../live/config ./config --group edge
  $ xdskit diff ./config ./config.new --output json | jq -r '.changes[] | "\\(.change) \\(.type) \\(.name)"'
`;

/** `xdskit diff`: shows what differs between two folders. */
export function diffCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("diff")
    .description("Shows what differs between two folders: each resource, and the stages in which clients get it.")
    .argument("<old>", "the folder that is served")
    .argument("<new>", "the folder that is to be served")
    .option("--group <name>", "only this group (default: every group)")
    .option(
      "--settings <file>",
      "groups, limits and so on, for both (default: DIR/xdskit.yaml of each, if it is there)",
    )
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect)
    .option("--full", "print all names of the stages, even if there are many")
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (before: string, after: string, options: Options) => {
      const { settings, descriptors = [], group, full = false, output } = options;
      // Loaded only now: other commands start faster without the messages.
      const { diffFolders } = await import("../../diff/diff-folders.js");
      const folders = { old: before, new: after, settings, descriptors, group };
      exit(await diffFolders({ ...folders, full, json: output === "json" }, terminal));
    });
}
