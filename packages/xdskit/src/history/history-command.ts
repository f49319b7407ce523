import { Command } from "commander";
import { type ApiServerOptions, addServerOptions, outputOption } from "../arguments/api-server-options.js";
import { readCount } from "../arguments/arguments.js";
import type { Terminal } from "../output/terminal.js";

interface HistoryArguments extends ApiServerOptions {
  readonly layer?: string;
  readonly limit: number;
}

const details = `
Prints a line for each revision, the newest first: its id, the layer, its number there, the time, how many resources it
added or changed (+) and removed (-), the author, and the reason. Docs: docs/changes.md

Exit status: 0 if the server answered, 1 if not or if there is no such layer, 2 if the usage is wrong.

Examples:
  $ xdskit history
  $ xdskit history --layer api --limit 100
  $ xdskit history --output json | jq -r '.revisions[0].id'
`;

/** `xdskit history`: lists the revisions of layers. */
export function historyCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("history"))
    .description("Lists the changes that a running server keeps.")
    .option("--layer <name>", "only this layer (default: all)")
    .option("--limit <number>", "at most this many", readCount, 20)
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async ({ server, output, layer, limit }: HistoryArguments) => {
      const { runHistory } = await import("./run-history.js");
      exit(await runHistory({ server, output, layer, limit }, terminal));
    });
}
