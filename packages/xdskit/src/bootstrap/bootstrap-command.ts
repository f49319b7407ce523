import { resolve } from "node:path";
import type { SotwOrDelta } from "@xdskit/protocol";
import { isLoopback, type ListenAddress } from "@xdskit/server/address";
import { Command, Option } from "commander";
import { collect, metadataOption, readListenAddress, readPort, wordOption } from "../arguments/arguments.js";
import { forXds } from "../arguments/environment.js";
import { refuseHalfPair } from "../arguments/tls-options.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { type TlsOptions, tlsOf } from "../settings/options/tls-options.js";

interface BootstrapArguments extends TlsOptions {
  readonly variant: SotwOrDelta | "rest";
  readonly ads?: true;
  readonly perType?: true;
  readonly server?: readonly ListenAddress[];
  readonly nodeId: string;
  readonly nodeCluster: string;
  readonly locality?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly adminPort: number;
  readonly grpcClient?: true;
  readonly loadReports?: true;
  readonly secrets?: string;
  readonly trusted?: true;
  readonly allowGrpcService?: readonly string[];
}

const examples = `
Examples:
  $ xdskit bootstrap > envoy.yaml && envoy -c envoy.yaml
  $ xdskit bootstrap --node-id edge-7 --node-cluster edge --server xds.example.org:18000
  $ xdskit bootstrap --variant sotw --per-type
  $ xdskit bootstrap --variant rest --server xds.example.org:18001
  $ xdskit bootstrap --server xds.example.org:18000 --tls-ca /etc/xds/ca.pem --tls-cert /etc/xds/own.pem --tls-key /etc/xds/own.key
  $ xdskit bootstrap --server xds.example.org:18000 --tls-ca /etc/xds/ca.pem --token-file /run/xds/token --secrets /etc/envoy/secrets
  $ xdskit bootstrap --grpc-client > grpc.json && GRPC_XDS_BOOTSTRAP=grpc.json ./my-client
  $ xdskit bootstrap --grpc-client --server xds.example.org:18000 --server relay.example.org:18000 > grpc.json

With --per-type and with --variant rest, a resource must not name "ads: {}" as its source: an Envoy without ADS rejects it.
Let them name the cluster "xdskit" of this bootstrap instead; docs/bootstrap.md shows how.
`;

/** `xdskit bootstrap`: prints what an Envoy or a gRPC client needs to find this server. */
export function bootstrapCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("bootstrap")
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
      "the address of the server, or unix:/PATH; gRPC: further ones are fallbacks, in order (default: 127.0.0.1:18000, REST: 127.0.0.1:18001)",
      (text: string, before: readonly ListenAddress[] = []) => [...before, readListenAddress(text)],
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
    .option("--token-file <file>", "the file of a token to send as authorization: Bearer …; read again when it changes")
    .addOption(
      new Option(
        "--secrets <dir>",
        "Envoy: write files there through which it follows certificates and the token",
      ).conflicts("grpcClient"),
    )
    .option("--trusted", "gRPC: the server may rewrite authorities, and name services with credentials")
    .option(
      "--allow-grpc-service <target>",
      "gRPC: a service that resources may name, reached with the server's credentials; may be repeated",
      collect,
    );
  return forXds(command)
    .addHelpText("after", examples)
    .action(async (options: BootstrapArguments, command: Command) => {
      checkOptions(options, command);
      const { variant } = options;
      const tls = tlsOf(options);
      const usual = { host: "127.0.0.1", port: variant === "rest" ? 18001 : 18000 };
      const [server = usual, ...fallbacks] = options.server ?? [];
      const servers = [server, ...fallbacks];
      checkToken(options, servers, command);
      if (options.grpcClient) {
        const { grpcBootstrap } = await import("./grpc.js");
        const { trusted: isTrusted, allowGrpcService: allowedServices } = options;
        return terminal.out(grpcBootstrap({ ...options, servers, tls, isTrusted, allowedServices }));
      }
      // Loaded only now: YAML takes its time.
      const { envoyBootstrap, writeSecrets } = await import("./envoy.js");
      const streams = options.perType ? "per-type" : "ads";
      const secrets = options.secrets === undefined ? undefined : resolve(options.secrets);
      const all = { ...options, server, tls, secrets, streams, loadReports: options.loadReports ?? false } as const;
      try {
        await writeSecrets(all);
      } catch (error) {
        reportFailure(terminal, "bootstrap", error);
        return exit(exitStatus.failed);
      }
      terminal.out(envoyBootstrap(all));
    });
}

/** Ends with a usage error where options do not fit together. */
function checkOptions(options: BootstrapArguments, command: Command): void {
  const error = (text: string) => command.error(`error: ${text}`);
  const { variant, grpcClient } = options;
  if (variant === "rest") {
    if (options.ads) error("there is no ADS over REST: leave --ads out");
    if (grpcClient) error("gRPC clients do not poll over REST: leave --variant out");
    if (options.loadReports) error("there are no load reports over REST: take another --variant");
  }
  refuseHalfPair(options, command);
  if (options.tlsCa === undefined && (options.tlsCert ?? options.tlsServerName) !== undefined)
    error("--tls-cert and --tls-server-name are for --tls-ca");
  if (grpcClient && options.tlsServerName !== undefined)
    error("gRPC clients have no --tls-server-name: the certificate must have the name of --server");
  if (!grpcClient && (options.server?.length ?? 0) > 1) error("Envoy has one --server: several are for --grpc-client");
  if (!grpcClient && (options.trusted || options.allowGrpcService))
    error("--trusted and --allow-grpc-service are for --grpc-client");
}

/** The same for a token, which must not go over a network in plaintext. */
function checkToken(options: BootstrapArguments, servers: readonly ListenAddress[], command: Command): void {
  const { tokenFile, tlsCa, grpcClient, secrets } = options;
  const error = (text: string) => command.error(`error: ${text}`);
  if (tokenFile === undefined) {
    if (secrets !== undefined && tlsCa === undefined) error("--secrets is for --tls-ca and --token-file");
    return;
  }
  if (!grpcClient && secrets === undefined)
    error("Envoy needs --secrets with --token-file: it would not read the token again");
  if (tlsCa !== undefined) return;
  if (grpcClient) error("gRPC clients send a token over TLS only: add --tls-ca");
  if (servers.some((server) => !("path" in server) && !isLoopback(server.host)))
    error("the token would go to the server in plaintext: add --tls-ca");
}
