import { Command } from "commander";
import type { Terminal } from "../output/terminal.js";
import { readDuration, readWorkers } from "./arguments.js";
import { addOutputOptions, addPortOptions, type ServingArguments, servingOptions } from "./serving-options.js";

interface Options extends ServingArguments {
  readonly state?: string;
  readonly settle?: number;
  readonly allowEmpty?: boolean;
  readonly allowPartial?: boolean;
  readonly workers?: number | "auto";
}

const details = `
Standard output holds one line for each listener ("grpc listening on 127.0.0.1:18000") and "ready" once the first
configuration is served. Logs go to standard error. SIGTERM and SIGINT end every stream and exit with 0; a second
one does not wait. Exit status: 2 when there is nothing to serve or the usage is wrong, 1 when an address is taken.
A file holds resources, or what an Envoy has already: its bootstrap, a config dump, what istioctl and egctl print
(docs/adopt.md). While some files have errors at the start, the last good revision is served, and /readyz says
"degraded" and what must be fixed (docs/state.md). Without one, the ports for clients stay closed.

Examples:
  $ xdskit serve                                        serve ./config
  $ xdskit serve ./config --grpc 0.0.0.0:18000          for Envoys on other machines
  $ xdskit serve ./config --grpc 127.0.0.1:0 --rest 127.0.0.1:0 --admin 127.0.0.1:0
                                                        on free ports, beside another server
  $ xdskit serve ./config --settings fleet.yaml         with groups and limits (docs/settings.md)
  $ xdskit serve ./config --descriptors my-filter.binpb with messages of your own extension
  $ xdskit serve ./config --to-files ./envoy            and write files that an Envoy follows (docs/relay.md)
  $ curl http://127.0.0.1:19000/api/v1/sources          what is wrong with the files, if anything
`;

/** `xdskit serve`: a management server for the resources of a folder. */
export function serveCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("serve")
    .description("Serves the resources found in a folder to Envoys and gRPC clients, and follows its changes.")
    .argument("[dir]", "the folder", "./config");
  addPortOptions(command)
    .option("--settings <file>", "groups, limits … (default: DIR/xdskit.yaml if it is there)")
    .option(
      "--state <dir>",
      "where revisions are kept; off: nowhere (default: $STATE_DIRECTORY, or below ~/.local/state)",
    )
    .option("--settle <duration>", "changes within this time are one change (default: 100ms)", readDuration)
    .option("--allow-empty", "start even if there is nothing to serve yet")
    .option("--allow-partial", "without a last good revision, serve the files without errors and leave out the others")
    .option("--workers <count>", "threads that serve gRPC, or auto: one a processor (default: 1)", readWorkers);
  return addOutputOptions(command)
    .addHelpText("after", details)
    .action(async (directory: string, options: Options) => {
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runServe } = await import("../serve/run-serve.js");
      const { settings, state, settle, allowEmpty = false, allowPartial = false, workers } = options;
      const own = { directory, settings, state, settle, allowEmpty, allowPartial, workers };
      exit(await runServe({ ...servingOptions(options, command), ...own }, terminal));
    });
}
