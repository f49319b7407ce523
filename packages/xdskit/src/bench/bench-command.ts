import { type Address, parseAddress } from "@xdskit/server/address";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  collect,
  readCount,
  readDurationWithUnit,
  readMetadata,
  readOption,
  wordOption,
} from "../arguments/arguments.js";
import { forXds } from "../arguments/environment.js";
import { addTlsOptions, addTokenOption, refuseHalfPair } from "../arguments/tls-options.js";
import type { Terminal } from "../output/terminal.js";
import type { BenchOptions } from "./bench-options.js";

type BenchArguments = Omit<BenchOptions, "servers" | "types" | "ads" | "metadata" | "json"> &
  Partial<Pick<BenchOptions, "ads" | "metadata" | "json">> & {
    readonly server?: readonly Address[];
    readonly type?: readonly string[];
  };

const details = `
Simulates a fleet of proxies: each subscribes as an Envoy does (clusters, the load assignments that they name,
listeners, the routes that these name), acknowledges, and says what it has when it connects again. In --node-id,
--node-cluster, --locality and --metadata, {n} is the node's number and {g} that of its group. SIGINT ends it; the table
is still printed. Docs: docs/bench.md

Exit status: 0 if every node got everything and no stream failed, 1 if not, 2 if the usage is wrong.

Examples:
  $ xdskit bench --ads --nodes 1000                            a thousand proxies at 127.0.0.1:18000
  $ xdskit bench --ads --variant sotw --nodes 5000 --ramp 200 --duration 1m
                                                               200 more each second; change something meanwhile
  $ xdskit bench --ads --nodes 1000 --churn 5% --duration 1m   50 of them reconnect each second
  $ xdskit bench --ads --nodes 1000 --stall 1% --stall-for 30s --duration 1m
                                                               ten stop reading for half a minute
  $ xdskit bench --ads --nodes 300 --groups 3 --node-cluster 'edge-{g}' --metadata stage=prod
  $ xdskit bench --ads --type cluster --type endpoint=web,api --json | jq .load
`;

/** `xdskit bench`: measures how a management server serves a fleet. */
export function benchCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("bench")
    .summary("simulate a fleet of proxies, and measure a management server")
    .description("Connects many simulated proxies to any management server, and measures the server.")
    .option("--server <host:port>", "a server; several share the nodes (default: 127.0.0.1:18000)", readServers)
    .option("--nodes <count>", "number of proxies", readCount, 100)
    .addOption(wordOption("--variant <variant>", "state of the world, or incremental", ["sotw", "delta"], "delta"))
    .option("--ads", "one aggregated stream instead of one for each type")
    .option(
      "--type <type=name,…>",
      "a type to subscribe to; without names: all, or those that other types name; may be repeated (default: cluster, endpoint, listener, route)",
      collect,
    )
    .option("--node-id <text>", "the nodes' ids", "bench-g{g}-{n}")
    .option("--node-cluster <text>", "the nodes' clusters", "bench")
    .addOption(
      new Option("--locality <region/zone/sub>", "the nodes' localities").argParser(readLocality).default("", "none"),
    )
    .option(
      "--metadata <key=value>",
      "the nodes' metadata: a text, or JSON in { } or [ ]; may be repeated",
      readMetadata,
    )
    .option("--groups <count>", "number of groups of nodes; {g} is the number of one", readCount, 1)
    .option("--nodes-per-connection <count>", "nodes for each connection", readCount, 1)
    .option("--ramp <count>", "connections in each second (default: as many as possible)", readCount)
    .addOption(
      readOption(
        "--timeout <duration>",
        "how long to wait until all nodes have everything",
        readDurationWithUnit,
        "1m",
      ),
    )
    .addOption(readOption("--duration <duration>", "how long the nodes stay after that", readDurationWithUnit, "10s"))
    .addOption(readOption("--churn <share>", "share of the nodes that reconnect each second", readShare, "0%"))
    .addOption(readOption("--stall <share>", "share of the nodes that stop reading", readShare, "0%"))
    .addOption(readOption("--stall-for <duration>", "how long they stop", readDurationWithUnit, "10s"))
    .addOption(readOption("--reject <share>", "share of the nodes that reject each change once", readShare, "0%"));
  return forXds(addTokenOption(addTlsOptions(command), "connection"))
    .option("--json", "print JSON")
    .addHelpText("after", details)
    .action(async (options: BenchArguments, command: Command) => {
      refuseHalfPair(options, command);
      // Loaded only now: other commands start faster without it.
      const { runBench } = await import("./run-bench.js");
      const { server: servers = [usualServer], type: types = [], ads = false, metadata = {}, json = false } = options;
      exit(await runBench({ ...options, servers, types, ads, metadata, json }, terminal));
    });
}

const usualServer: Address = { host: "127.0.0.1", port: 18_000 };

function readServers(text: string, before: readonly Address[] = []): readonly Address[] {
  const address = parseAddress(text);
  if (address === undefined) throw new InvalidArgumentError("Expected HOST:PORT, such as 127.0.0.1:18000.");
  return [...before, address];
}

function readLocality(text: string): string {
  if (text.split("/").length <= 3) return text;
  throw new InvalidArgumentError("Expected REGION, REGION/ZONE or REGION/ZONE/SUB.");
}

/** `5%` or `0.05`. */
function readShare(text: string): number {
  const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  const share = Number(number) / (percent === "%" ? 100 : 1);
  if (number !== undefined && share <= 1) return share;
  throw new InvalidArgumentError("Expected a share, such as 5% or 0.05.");
}
