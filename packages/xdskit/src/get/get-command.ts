import { Command } from "commander";
import { addClientOptions, type ClientArguments, timeoutOption, watchOptions } from "../arguments/client-arguments.js";
import type { Terminal } from "../output/terminal.js";

const details = `
Runs until every NAME is answered, or, without names, until the first response. The YAML that it prints can be served
again; a resource that holds secrets only if it was printed with --show-secrets. Docs: docs/watch.md

Exit status: 0 if everything was found, 1 if a name does not exist, was rejected or got no answer, 2 if the usage is wrong.

Examples:
  $ xdskit get cluster                                         all clusters of 127.0.0.1:18000
  $ xdskit get route main --server xds.example.org:443 --tls --token-file token
  $ xdskit get cluster --node-id edge-1 --metadata stage=prod --output wide
                                                               the clusters for such a node
  $ xdskit get listener --bootstrap envoy.yaml > listeners.yaml
                                                               the listeners for an Envoy with this bootstrap
  $ xdskit get cluster web --output jsonl | jq 'select(.event == "upsert").resource'
`;

/** `xdskit get`: prints the resources of a management server, once. */
export function getCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addClientOptions(new Command("get"))
    .description("Subscribes at any management server as an Envoy does, and prints the resources that it sends.")
    .addOption(timeoutOption("give up after this time (default: 30s)"))
    .addHelpText("after", details)
    .action(async (type: string | undefined, names: readonly string[], options: ClientArguments, command: Command) => {
      const asked = watchOptions(command, [type, names], options, "get");
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runGet } = await import("./run-get.js");
      exit(await runGet(asked, terminal));
    });
}
