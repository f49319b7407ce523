import { Command } from "commander";
import { type ApiServerOptions, addServerOptions, outputOption } from "../arguments/api-server-options.js";
import type { Terminal } from "../output/terminal.js";

const details = `
REVISION is an id that history lists, its beginning (at least 4 characters), or
a number: 7, or api#7 where several layers have it.
Docs: docs/changes.md

Exit status: 0 if it is there, 1 if not or if no server answers, 2 if the usage is wrong.

Examples:
  $ xdskit show 3f9aKd
  $ xdskit show 3f9aKd --output json | jq -r '.changes[].name'
`;

/** `xdskit show`: shows one revision. */
export function showCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("show"))
    .description("Shows a revision: who made it, when and why, and what differs in each resource.")
    .argument("<revision>", "its id, the beginning of it, or its number")
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (revision: string, { server, output }: ApiServerOptions) => {
      const { runShow } = await import("./run-history.js");
      exit(await runShow({ server, output, revision }, terminal));
    });
}
