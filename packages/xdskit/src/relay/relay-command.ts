import { Command, Option } from "commander";
import { collect, metadataOption, readDuration, readDurationWithUnit, wordOption } from "../arguments/arguments.js";
import { forXds } from "../arguments/environment.js";
import {
  addOutputOptions,
  addPortOptions,
  type ServingArguments,
  servingOptions,
} from "../arguments/serving-options.js";
import { addTlsOptions, addTokenOption, refuseContents, tlsOptionNames } from "../arguments/tls-options.js";
import { validateOption } from "../arguments/validate-option.js";
import type { Terminal } from "../output/terminal.js";
import type { UpstreamArguments } from "./relay-settings.js";

interface RelayArguments extends ServingArguments, Omit<UpstreamArguments, "servers" | "paths"> {
  readonly server?: readonly string[];
  readonly path?: readonly string[];
  readonly state?: string;
}

/** Files need none of these options, and a bootstrap has its own settings for its servers. */
const howToAsk = ["variant", "perType", "api", "refreshDelay", ...tlsOptionNames];

const details = `
Standard output holds one line for each listener ("grpc listening on 127.0.0.1:18000") and "ready" once the origin has
answered, or the cache was read. Logs go to standard error. SIGTERM and SIGINT end every stream and exit with 0.
Docs: docs/relay.md

Exit status: 2 if the usage is wrong, 1 if an address is in use.

Examples:
  $ xdskit relay --server origin:18000 --cache ./cache     all clients cost the origin one stream
  $ xdskit relay --server a:18000 --server b:18000         uses b while a is away
  $ xdskit relay --server http://origin:18001              polls over REST-JSON
  $ xdskit relay --path cluster=cds.yaml --wildcard cluster
                                                           files, as Envoy reads them
  $ xdskit relay --settings relay.yaml                     groups of clients, each with its own identity
  $ xdskit relay --server origin:18000 --to-files ./envoy  also write files that an Envoy reads
`;

/** `xdskit relay`: serves the resources of another management server. */
export function relayCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("relay")
    .description(
      "Serves the resources of another management server (the origin): many clients cost the origin one stream, and the relay serves them while the origin is away.",
    )
    .option("--server <host:port>", "the origin, or http://…; further ones are fallbacks, in order", collect)
    .addOption(
      new Option("--path <type=file>", "files instead of a server, one for each type; may be repeated")
        .argParser(collect)
        .conflicts(["server", "bootstrap", ...howToAsk]),
    )
    .addOption(
      new Option(
        "--bootstrap <file>",
        "take servers and node from a bootstrap: gRPC's JSON, or Envoy's YAML or JSON",
      ).conflicts(["server", ...howToAsk]),
    )
    .addOption(
      wordOption("--variant <variant>", "state of the world, or incremental (default: delta)", ["sotw", "delta"]),
    )
    .option("--per-type", "a stream for each type (default: one for all)")
    .addOption(wordOption("--api <version>", "version of the origin's protocol (default: v3)", ["v2", "v3"]))
    .option(
      "--refresh-delay <duration>",
      "REST: time between a response and the next poll (default: 1s)",
      readDuration,
    );
  addTokenOption(addTlsOptions(command, { client: "relay", server: "origin" }), "stream or poll")
    .option("--node-id <id>", "the relay's node ID for the origin (default: xdskit-relay)")
    .option("--node-cluster <name>", "the cluster of this node")
    .addOption(metadataOption("this node"))
    .option(
      "--wildcard <type>",
      "subscribe to all resources of this type; none: of no type; may be repeated (default: cluster, listener)",
      collect,
    )
    .option("--prefetch", "subscribe to everything that resources name before a client asks for it")
    .option("--cache <dir>", "keep the origin's resources here, and start with them")
    .addOption(
      wordOption("--nack <policy>", "send the origin a NACK if all clients reject, or if any does (default: all)", [
        "all",
        "any",
      ]),
    )
    .option("--ack-wait <duration>", "how long to wait for the clients' answers (default: 3s)", readDurationWithUnit)
    .option(
      "--hold <duration>",
      "how long a change waits for resources that the origin should have sent before it (default: 15s)",
      readDurationWithUnit,
    )
    .addOption(validateOption())
    .option(
      "--state <dir>",
      "the folder for revisions; off: keep none (default: $STATE_DIRECTORY, or below ~/.local/state)",
    );
  addPortOptions(command).option("--settings <file>", "the origin, groups, limits and so on");
  return forXds(addOutputOptions(command))
    .addHelpText("after", details)
    .action(async (options: RelayArguments) => {
      refuseContents(options, command);
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runRelay } = await import("./run-relay.js");
      const { server: servers, path: paths, settings, state, ...more } = options;
      const upstream = { ...more, servers, paths };
      exit(await runRelay({ ...servingOptions(options, command), settings, state, upstream }, terminal));
    });
}
