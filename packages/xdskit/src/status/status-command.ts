import type { ListenAddress } from "@xdskit/server/address";
import { Command, Option } from "commander";
import { readServer, tokenOption } from "../arguments/api-server-options.js";
import {
  collect,
  readDurationBetween,
  readDurationWithUnit,
  readListenAddress,
  readOption,
} from "../arguments/arguments.js";
import { terminalScreen } from "../arguments/screen.js";
import { addTlsOptions, refuseHalfPair } from "../arguments/tls-options.js";
import type { Terminal } from "../output/terminal.js";
import type { TlsOptions } from "../settings/options/tls-options.js";

interface StatusArguments extends TlsOptions {
  readonly server: ListenAddress | URL;
  readonly node?: readonly string[];
  readonly type?: readonly string[];
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly check?: boolean;
  readonly all?: boolean;
  readonly interval: number;
  readonly timeout: number;
}

const details = `
Uses CSDS, which xdskit, other control planes and gRPC's clients (their admin services) serve. With a URL it asks the
API of xdskit's admin listener, which also knows group, replica and lag of each node. Without a server, a node or a
type, --watch asks the admin listener at 127.0.0.1:19000, if it answers.
Docs: docs/status.md

Exit status: 0 if the server answered, 1 if not or if there is no NODE, 2 if the usage is wrong. With --check also 1 if
a node rejects something, lacks something or is held back, if no node fits a --node or asks for a --type, or if the
server does not serve its newest configuration.

Examples:
  $ xdskit status                                  the nodes that are not synced, the worst first, and why
  $ xdskit status --all                            synced nodes, too
  $ xdskit status edge-1                           each resource of one node that is not synced, and why
  $ xdskit status --node 'edge-*' --type cluster   some nodes, some types
  $ xdskit status --check                          for a script: exit status 1 unless all is well
  $ xdskit status --watch                          again and again
  $ xdskit status --json | jq -r '.nodes[] | select(.state == "rejected").id'
`;

/** `xdskit status`: shows what each client of a running server has. */
export function statusCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("status")
    .description("Shows what each client of a running server has, what it was sent, and what it rejected and why.")
    .argument("[node]", "the ID of a node to show in detail")
    .addOption(
      readOption(
        "--server <address>",
        "HOST:PORT for gRPC, or an admin listener's URL",
        readEither,
        "127.0.0.1:18000",
      ).env("XDSKIT_SERVER"),
    )
    .option("--node <id>", "only nodes with this ID; may contain * and ?; may be repeated", collect)
    .option("--type <type>", "only this type, such as cluster; may be repeated", collect)
    .option("--all", "list synced nodes, too, not only count them")
    .option("--json", "print JSON, with all nodes")
    .addOption(new Option("--check", "exit with 1 unless all nodes run all that there is for them").conflicts("watch"))
    .option("--watch", "show the status repeatedly")
    .addOption(
      readOption(
        "--interval <duration>",
        "time between two outputs, from 500ms to 1h",
        readDurationBetween(500, 3_600_000),
        "2s",
      ),
    )
    .addOption(readOption("--timeout <duration>", "how long to wait for an answer", readDurationWithUnit, "10s"));
  return addTlsOptions(command)
    .addOption(tokenOption())
    .addHelpText("after", details)
    .action(async (node: string | undefined, options: StatusArguments, command: Command) => {
      refuseHalfPair(options, command);
      const { node: nodes = [], type: types = [], json = false, watch = false, check = false, all = false } = options;
      const screen = terminalScreen();
      const server = await serverOf(options, node, command);
      if (server instanceof URL) {
        const { interval, timeout } = options;
        const times = watch ? { screen } : { screen: undefined, count: 1 };
        const output = json ? "json" : "text";
        const { tokenFile, tlsCa, tlsCert, tlsKey } = options;
        const asked = { url: server, tokenFile, tlsCa, tlsCert, tlsKey };
        if (node !== undefined) {
          const { runNodeAtApi } = await import("./node-at-api.js");
          exit(await runNodeAtApi({ server: asked, node, json, check }, terminal));
          return;
        }
        const { runTop } = await import("../top/run-top.js");
        const how = { command: "status", server: asked, filter: {}, output, check, all, interval, timeout } as const;
        exit(await runTop({ ...how, ...times }, terminal));
        return;
      }
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runStatus } = await import("./run-status.js");
      exit(await runStatus({ ...options, server, node, nodes, types, json, watch, check, all, screen }, terminal));
    });
}

/** Where to ask. The admin listener knows most of all nodes; over gRPC there are details of one, and other programs. */
async function serverOf(
  options: StatusArguments,
  node: string | undefined,
  command: Command,
): Promise<ListenAddress | URL> {
  const { watch = false, json = false } = options;
  // As of all commands, it is the address of an admin listener.
  const isOfEnvironment = command.getOptionValueSource("server") === "env";
  const server = isOfEnvironment ? readServer(process.env.XDSKIT_SERVER ?? "") : options.server;
  const given = Object.keys(options).filter((name) => command.getOptionValueSource(name) !== "default");
  const ofGrpc = given.filter((name) => name === "node" || name === "type" || name.startsWith("tls"));
  const isTls = server instanceof URL && server.protocol === "https:";
  if (server instanceof URL) {
    if (ofGrpc.some((name) => !isTls || !name.startsWith("tls")) || (node !== undefined && watch))
      command.error("error: --node, --type, --tls… and --watch of a NODE ask over gRPC: --server must be HOST:PORT");
    return server;
  }
  if (!watch || json || node !== undefined || ofGrpc.length > 0 || given.includes("server")) return server;
  const admin = new URL("http://127.0.0.1:19000");
  return (await answers(admin)) ? admin : server;
}

/** Whether an admin listener of xdskit is there. */
async function answers(admin: URL): Promise<boolean> {
  const { createApiClient } = await import("../api-client/api-client.js");
  const client = createApiClient({ server: { url: admin }, timeoutMs: 1_000 });
  try {
    await client.get("/api/v1/fleet/summary");
    return true;
  } catch {
    return false;
  } finally {
    client.close();
  }
}

function readEither(text: string): ListenAddress | URL {
  return /^https?:\/\//.test(text) ? readServer(text) : readListenAddress(text);
}
