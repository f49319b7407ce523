import type { Address } from "@xdskit/server/address";
import { Command, Option } from "commander";
import type { Terminal } from "../output/terminal.js";
import type { TlsOptions } from "../settings/tls-options.js";
import { collect, readAddress, readDurationBetween, readDurationWithUnit, readOption } from "./arguments.js";
import { addTlsOptions, refuseHalfPair } from "./tls-options.js";

interface StatusArguments extends Omit<TlsOptions, "tokenFile"> {
  readonly server: Address;
  readonly node?: readonly string[];
  readonly type?: readonly string[];
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly interval: number;
  readonly timeout: number;
}

const details = `
Uses CSDS, which xdskit, other control planes and gRPC's clients (their admin services) serve.
Docs: docs/status.md

Exit status: 0 if the server answered, 1 if not or if there is no NODE, 2 if the usage is wrong.

Examples:
  $ xdskit status                                  each node's acknowledgements and rejections, and how far it is behind
  $ xdskit status edge-1                           each resource of one node that is not synced, and why
  $ xdskit status --node 'edge-*' --type cluster   some nodes, some types
  $ xdskit status --watch                          again and again
  $ xdskit status --json | jq -r '.nodes[] | select(.state == "rejected").id'
`;

/** `xdskit status`: shows what each client of a running server has. */
export function statusCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("status")
    .description("Shows what each client of a running server has, what it was sent, and what it rejected and why.")
    .argument("[node]", "the ID of a node to show in detail")
    .addOption(readOption("--server <host:port>", "the server, over gRPC", readAddress, "127.0.0.1:18000"))
    .option("--node <id>", "only nodes with this ID; may contain * and ?; may be repeated", collect)
    .option("--type <type>", "only this type, such as cluster; may be repeated", collect)
    .option("--json", "print JSON")
    .option("--watch", "show the status repeatedly")
    .addOption(
      readOption(
        "--interval <duration>",
        "time between two outputs, from 500ms to 1h",
        readDurationBetween(500, 3_600_000),
        "2s",
      ),
    )
    .addOption(
      new Option("--timeout <duration>", "how long to wait for an answer")
        .argParser(readDurationWithUnit)
        .default(10_000, "10s"),
    );
  return addTlsOptions(command)
    .addHelpText("after", details)
    .action(async (node: string | undefined, options: StatusArguments, command: Command) => {
      refuseHalfPair(options, command);
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runStatus } = await import("../status/run-status.js");
      const { node: nodes = [], type: types = [], json = false, watch = false } = options;
      const { stdout } = process;
      const screen = stdout.isTTY ? { rows: () => stdout.rows } : undefined;
      exit(await runStatus({ ...options, node, nodes, types, json, watch, screen }, terminal));
    });
}
