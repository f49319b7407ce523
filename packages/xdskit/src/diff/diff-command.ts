import { Command } from "commander";
import { type ApiServerOptions, addServerOptions, outputOption } from "../arguments/api-server-options.js";
import { collect } from "../arguments/arguments.js";
import type { Terminal } from "../output/terminal.js";

interface DiffArguments extends ApiServerOptions {
  readonly from?: string;
  readonly to?: string;
  readonly settings?: string;
  readonly descriptors?: readonly string[];
  readonly group?: string;
  readonly full?: boolean;
}

const details = `
Prints the differences of each resource as lines of YAML, and then the stages in which clients get the change. Secrets
are not shown. A revision is an id that history lists, its beginning, or its number. Docs: docs/changes.md

Exit status: 0 if nothing differs, 3 if something does, 1 if a folder has errors or no server answers, 2 if the usage is
wrong or there is no such folder.

Examples:
  $ xdskit diff ./config                        what would differ if the running server served this folder
  $ xdskit diff ./config ./config.new           two folders, without a server
  $ xdskit diff --from 3f9aKd                   what has changed since a revision
  $ git worktree add ../live main && xdskit diff ../live/config ./config --group edge
  $ xdskit diff ./config ./config.new --output json | jq -r '.changes[] | "\\(.change) \\(.type) \\(.name)"'
`;

/** `xdskit diff`: shows what differs between folders, a folder and a running server, or revisions. */
export function diffCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("diff"))
    .description("Shows what differs: between a folder and a running server, two folders, or two revisions.")
    .argument("[dir]", "a folder; alone it is compared with the running server's configuration")
    .argument("[new]", "the folder that will be served in place of the first")
    .option("--from <revision>", "compare revisions: from this one")
    .option("--to <revision>", "compare revisions: to this one (default: the newest of the layer)")
    .option("--group <name>", "two folders: only this group (default: every group)")
    .option("--settings <file>", "groups, limits and so on (default: DIR/xdskit.yaml, if it exists)")
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect)
    .option("--full", "two folders: all names of the stages, even if there are many")
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (one: string | undefined, other: string | undefined, options: DiffArguments, self: Command) => {
      const error = (text: string): never => self.error(`error: ${text}`);
      const { from, to, server, output, settings, descriptors = [], group, full = false } = options;
      if (from !== undefined || to !== undefined) {
        if (one !== undefined) error("revisions and folders exclude each other");
        if (from === undefined) return error("--to needs --from");
        const { diffRevisions } = await import("./diff-revisions.js");
        return exit(await diffRevisions({ from, to, server, output }, terminal));
      }
      if (one === undefined) return error("name a folder, two folders, or a revision with --from");
      if (other !== undefined) {
        // Loaded only now: other commands start faster without the messages.
        const { diffFolders } = await import("./diff-folders.js");
        const folders = { old: one, new: other, settings, descriptors, group };
        return exit(await diffFolders({ ...folders, full, json: output === "json" }, terminal));
      }
      if (group !== undefined || full) error("--group and --full are for two folders");
      const { diffWithServer } = await import("./diff-with-server.js");
      exit(await diffWithServer({ directory: one, server, output, settings, descriptors }, terminal));
    });
}
