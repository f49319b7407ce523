import type { SotwOrDelta } from "@xdskit/protocol";
import type { ListenPlace } from "@xdskit/server/address";
import { Command, Option } from "commander";
import { metadataOption, readPlace, readPort, wordOption } from "../arguments/arguments.js";
import { refuseHalfPair } from "../arguments/tls-options.js";
import type { Terminal } from "../output/terminal.js";
import { type TlsOptions, tlsOf } from "../settings/options/tls-options.js";

interface BootstrapArguments extends TlsOptions {
  readonly variant: SotwOrDelta | "rest";
  readonly ads?: true;
  readonly perType?: true;
  readonly server?: ListenPlace;
  readonly nodeId: string;
  readonly nodeCluster: string;
  readonly locality?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly adminPort: number;
  readonly grpcClient?: true;
  readonly loadReports?: true;
}

const examples = `
Examples:
  $ xdskit bootstrap > envoy.yaml && envoy -c envoy.yaml
  $ xdskit bootstrap --node-id edge-7 --node-cluster edge --server xds.example.org:18000
  $ xdskit bootstrap --variant sotw --per-type
  $ xdskit bootstrap --variant rest --server xds.example.org:18001
  $ xdskit bootstrap --server xds.example.org:18000 --tls-ca /etc/xds/ca.pem --tls-cert /etc/xds/own.pem --tls-key /etc/xds/own.key
  $ xdskit bootstrap --grpc-client > grpc.json && GRPC_XDS_BOOTSTRAP=grpc.json ./my-client

With --per-type and with --variant rest, a resource must not name "ads: {}" as its source: an Envoy without ADS rejects it.
Let them name the cluster "xdskit" of this bootstrap instead; docs/bootstrap.md shows how.
`;

/** `xdskit bootstrap`: prints what an Envoy or a gRPC client needs to find this server. */
export function bootstrapCommand(terminal: Terminal): Command {
  return new Command("bootstrap")
    .description("Prints a bootstrap that points an Envoy (YAML) or a gRPC client (JSON) to an xdskit server.")
    .addOption(
      wordOption(
        "--variant <variant>",
        "state of the world, incremental, or polls over REST",
        ["sotw", "delta", "rest"],
        "delta",
      ),
    )
    .option("--ads", "one aggregated stream for all types (the default)")
    .addOption(new Option("--per-type", "one stream for each type").conflicts("ads"))
    .option(
      "--server <host:port>",
      "the address of the server, or unix:/PATH (default: 127.0.0.1:18000, REST: 127.0.0.1:18001)",
      readPlace,
    )
    .option("--node-id <id>", "the client's node ID", "node-1")
    .option("--node-cluster <name>", "the client's cluster, a group of clients", "default")
    .option("--locality <region/zone/subzone>", "the client's location; the last parts may be left out")
    .addOption(metadataOption("the node"))
    .option("--admin-port <port>", "the port of Envoy's admin page on 127.0.0.1", readPort, 9901)
    .addOption(new Option("--grpc-client", "print a gRPC client's bootstrap").conflicts(["perType", "ads"]))
    .addOption(
      new Option("--load-reports", "let Envoy report its load (a gRPC client does if its cluster says so)").conflicts(
        "grpcClient",
      ),
    )
    .option("--tls-ca <file>", "use TLS: the client trusts the certificates in this PEM file on its machine")
    .option("--tls-cert <file>", "the client's certificate (PEM), if the server requires one")
    .option("--tls-key <file>", "its key (PEM)")
    .option("--tls-server-name <name>", "the name that the server's certificate must have (default: that of --server)")
    .addHelpText("after", examples)
    .action(async (options: BootstrapArguments, command: Command) => {
      const { variant } = options;
      if (variant === "rest") {
        if (options.ads) command.error("error: there is no ADS over REST: leave --ads out");
        if (options.grpcClient) command.error("error: gRPC clients do not poll over REST: leave --variant out");
        if (options.loadReports) command.error("error: there are no load reports over REST: take another --variant");
      }
      refuseHalfPair(options, command);
      if (options.tlsCa === undefined && (options.tlsCert ?? options.tlsServerName) !== undefined)
        command.error("error: --tls-cert and --tls-server-name are for --tls-ca");
      if (options.grpcClient && options.tlsServerName !== undefined)
        command.error("error: gRPC clients have no --tls-server-name: the certificate must have the name of --server");
      const tls = tlsOf(options);
      const server = options.server ?? { host: "127.0.0.1", port: variant === "rest" ? 18001 : 18000 };
      if (options.grpcClient) {
        const { grpcBootstrap } = await import("./grpc.js");
        return terminal.out(grpcBootstrap({ ...options, server, tls }));
      }
      // Loaded only now: YAML takes its time.
      const { envoyBootstrap } = await import("./envoy.js");
      const streams = options.perType ? "per-type" : "ads";
      terminal.out(envoyBootstrap({ ...options, server, tls, streams, loadReports: options.loadReports ?? false }));
    });
}
