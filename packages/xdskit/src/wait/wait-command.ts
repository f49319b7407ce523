import { Command } from "commander";
import { addServerOptions, outputOption, waitOption } from "../arguments/api-server-options.js";
import { type ChangeArguments, changeOptions } from "../arguments/change-options.js";
import type { Terminal } from "../output/terminal.js";

interface WaitArguments extends Pick<ChangeArguments, "server" | "output" | "timeout"> {
  readonly for: string;
}

const details = `
For pipelines, and for folders too. With a revision, or the beginning of its id: waits until the nodes that it concerns
have acknowledged it. Without: until every node runs all that there is for it, and the server serves the newest content
of its sources. Docs: docs/changes.md

Exit status: 0 when they have, 1 if one rejected it, it took too long or the server does not answer, 2 if the usage is
wrong.

Examples:
  $ xdskit wait
  $ xdskit wait 3f9a --timeout 2m
  $ xdskit wait 3f9a --for 50%                     half of the nodes are enough
`;

/** `xdskit wait`: waits until nodes run a revision. */
export function waitCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("wait"))
    .description("Waits until all nodes run a revision, or all that there is for them.")
    .argument("[revision]", "the id of a revision, the beginning of it, or its number")
    .option("--for <nodes>", "how many must have it: all, or a percentage", "all")
    .addOption(waitOption("how long to wait"))
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (revision: string | undefined, { for: nodes, ...options }: WaitArguments, self: Command) => {
      const { wait } = changeOptions(self, { ...options, wait: nodes });
      if (revision === undefined && self.getOptionValueSource("for") !== "default")
        self.error("error: --for needs a revision: without one, all nodes must have all");
      const { runWait } = await import("./run-wait.js");
      exit(await runWait({ ...options, revision, wait: wait ?? { percent: 100 } }, terminal));
    });
}
