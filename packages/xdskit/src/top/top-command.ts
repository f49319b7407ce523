import { Command, Option } from "commander";
import { type ApiServerOptions, addServerOptions, outputOption } from "../arguments/api-server-options.js";
import { readCount, readDurationBetween, readDurationWithUnit, readOption } from "../arguments/arguments.js";
import { terminalScreen } from "../arguments/screen.js";
import type { Terminal } from "../output/terminal.js";
import type { TopOptions } from "./run-top.js";

interface TopArguments extends ApiServerOptions, Pick<TopOptions, "interval" | "timeout" | "count"> {
  readonly group?: string;
  readonly state?: string;
  readonly search?: string;
}

const details = `
Reads the HTTP API of the admin listener. On a terminal, the page is drawn again and again, and fits the window.
Elsewhere each change prints a block without colours. Docs: docs/top.md

Exit status: 0 after the last page, or without --count after a signal; 1 if a page of --count was not shown, 2 if the
usage is wrong, or there is no such group or state.

Examples:
  $ xdskit top
  $ xdskit top --group edge --state rejected,stale
  $ xdskit top --count 1 --output json | jq .states
`;

/** `xdskit top`: shows a whole fleet, the worst nodes first. */
export function topCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return (
    addServerOptions(new Command("top"))
      .description("Shows nodes by state, pushes per second, how long changes take, problems, and the worst nodes.")
      .option("--group <names>", "only nodes of these groups; several with commas")
      // XDSKIT_STATE is where a server keeps its state.
      .addOption(
        new Option(
          "--state <states>",
          "only nodes that are synced, held-back, pending, stale or rejected; several with commas",
        ).env("XDSKIT_NODE_STATE"),
      )
      .option("--search <text>", "only nodes with this text in id, cluster, client, locality or reason")
      .addOption(
        readOption("--interval <duration>", "time between two looks", readDurationBetween(500, 3_600_000), "2s"),
      )
      .addOption(readOption("--timeout <duration>", "how long to wait for an answer", readDurationWithUnit, "10s"))
      .addOption(readOption("--count <number>", "end after this many pages", readCount))
      .addOption(outputOption())
      .addHelpText("after", details)
      .action(async ({ server, output, group, state, search, interval, timeout, count }: TopArguments) => {
        const { runTop } = await import("./run-top.js");
        const filter = { group, state, q: search };
        const options = { command: "top", server, filter, output, interval, timeout, count } as const;
        exit(await runTop({ ...options, screen: terminalScreen() }, terminal));
      })
  );
}
