import { Command } from "commander";
import { addClientOptions, type ClientArguments, timeoutOption, watchOptions } from "../arguments/client-arguments.js";
import type { Terminal } from "../output/terminal.js";

const details = `
Resources go to standard output, everything else to standard error; with --output jsonl or json every event goes to
standard output. On a terminal, a change is shown as a difference. With --stdin, a line "+NAME" subscribes, and a line
"-NAME" unsubscribes. Docs: docs/watch.md

Exit status: 0 after SIGTERM, SIGINT or --timeout, 2 when the usage is wrong.

Examples:
  $ xdskit watch cluster                                       all clusters of 127.0.0.1:18000, and every change
  $ xdskit watch endpoint web api --variant sotw               two load assignments, over state of the world
  $ xdskit watch --ads --type listener --also route=main --also cluster --node-id edge-1
                                                               what a node gets, on one aggregated stream
  $ xdskit watch cluster --server a:18000 --server b:18000 --output jsonl | jq -c '[.event, .name]'
                                                               a fallback, and events for a program
  $ xdskit watch --rest http://127.0.0.1:18001 --refresh-delay 500ms --type route main
  $ xdskit watch --path /etc/envoy/cds.yaml --type cluster     a file, as Envoy follows it
`;

/** `xdskit watch`: shows the resources of a management server, and their changes. */
export function watchCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addClientOptions(new Command("watch"))
    .description(
      "Subscribes at any management server as an Envoy does, and shows which resources come, change and go, until it is stopped.",
    )
    .option("--stdin", "follow standard input: +NAME subscribes to a name of the type, -NAME unsubscribes")
    .addOption(timeoutOption("stop after this time (default: never)"))
    .addHelpText("after", details)
    .action(
      async (
        type: string | undefined,
        names: readonly string[],
        { stdin, ...options }: ClientArguments & { readonly stdin?: true },
        command: Command,
      ) => {
        const asked = watchOptions(command, [type, names], options, "watch");
        // Loaded only now: other commands start faster without gRPC and the messages.
        const { runWatch } = await import("./run-watch.js");
        exit(await runWatch({ ...asked, stdin }, terminal));
      },
    );
}
