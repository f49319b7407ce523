import { Command, InvalidArgumentError, Option } from "commander";
import { collect, readAddress, readDuration, readOption, readWorkers, wordOption } from "../arguments/arguments.js";
import {
  addOutputOptions,
  addPortOptions,
  type ServingArguments,
  servingOptions,
} from "../arguments/serving-options.js";
import type { ServingOptions } from "../daemon/serving.js";
import type { Terminal } from "../output/terminal.js";
import { parseStoreUrl, type StoreUrl } from "../settings/options/store-url.js";
import type { KubernetesSettings, ServeOptions } from "./options/serve-options.js";

type ServeArguments = ServingArguments &
  KubernetesArguments &
  Partial<Omit<ServeOptions, Exclude<keyof ServingOptions, "replica"> | "directory" | "kubernetes">>;

interface KubernetesArguments {
  readonly kubernetes?: boolean;
  readonly kubeconfig?: string;
  readonly namespace?: readonly string[];
  readonly selector?: string;
  readonly tlsSecrets?: string;
  readonly configMaps?: string;
  readonly gatewayApi?: boolean;
  readonly writeEvents?: boolean;
}

/** Undefined: no cluster is served. */
function clusterOf(options: KubernetesArguments, command: Command): KubernetesSettings | undefined {
  const { kubernetes = false, kubeconfig, namespace: namespaces, selector, tlsSecrets, configMaps } = options;
  const { gatewayApi, writeEvents } = options;
  const flags = { gatewayApi: gatewayApi ?? false, writesEvents: writeEvents ?? false };
  if (kubernetes) return { kubeconfig, namespaces, selector, tlsSecrets, configMaps, ...flags };
  const files = { "tls-secrets": tlsSecrets, "config-maps": configMaps };
  const own = { ...files, "gateway-api": gatewayApi, "write-events": writeEvents };
  const named = { kubeconfig, namespace: namespaces, selector, ...own };
  const alone = Object.entries(named).find(([, value]) => value !== undefined);
  if (alone !== undefined) command.error(`error: option '--${alone[0]}' needs --kubernetes`);
  return undefined;
}

/** Reads where revisions are kept. */
function readStoreUrl(text: string): StoreUrl {
  try {
    return parseStoreUrl(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

const details = `
Standard output holds one line for each listener ("grpc listening on 127.0.0.1:18000") and "ready" once the first
configuration is served. Logs go to standard error. SIGTERM and SIGINT end every stream and exit with 0; a second
signal ends the process at once. Exit status: 2 if there is nothing to serve or the usage is wrong, 1 if an address is
in use.
A file holds resources, or the configuration of an Envoy: its bootstrap, a config dump, output of istioctl or egctl
(docs/adopt.md). If files have errors at the start, the last good revision is served, and /readyz says "degraded" and
what must be fixed (docs/state.md). Without one, the ports for clients stay closed.

Examples:
  $ xdskit serve                                        serve ./config
  $ xdskit serve ./config --grpc 0.0.0.0:18000          for Envoys on other machines (needs TLS)
  $ xdskit serve ./config --grpc 127.0.0.1:0 --rest 127.0.0.1:0 --admin 127.0.0.1:0
                                                        on free ports, next to another server
  $ xdskit serve ./config --settings fleet.yaml         with groups and limits (docs/settings.md)
  $ xdskit serve ./config --descriptors my-filter.binpb with messages of your own extension
  $ xdskit serve --kubernetes --namespace shop          a cluster's Services, for xds:///cart.shop:8080
  $ xdskit serve ./config --to-files ./envoy            also write files that an Envoy reads (docs/to-files.md)
  $ curl http://127.0.0.1:19000/api/v1/sources          the errors in the files
`;

/** `xdskit serve`: a management server for the resources of a folder. */
export function serveCommand(terminal: Terminal, exit: (status: number) => void): Command {
  const command = new Command("serve")
    .description("Serves a folder, or the Services of Kubernetes, to Envoys and gRPC clients, and every change of it.")
    .argument("[dir]", "the folder (default: ./config; with --kubernetes: none)");
  addPortOptions(command)
    .option("--kubernetes", "serve the Services of a Kubernetes cluster, as xds:///SVC.NS:PORT (docs/kubernetes.md)")
    .option("--kubeconfig <file>", "where its API server is (default: that of the pod, or as for kubectl)")
    .option("--namespace <name>", "only Services of this namespace; may be repeated", collect)
    .option("--selector <labels>", "only Services with these labels, such as app=shop,tier!=test")
    .option("--tls-secrets <labels>", "also Secrets of type kubernetes.io/tls with these labels, as SDS")
    .option("--config-maps <labels>", "also ConfigMaps with these labels, each key a file of resources")
    .option("--gateway-api", "follow GRPCRoutes and HTTPRoutes whose parent is a Service, and write their status")
    .option("--write-events", "write Events about objects that are not served as they say; needs the right to do so")
    .option("--settings <file>", "groups, limits and so on (default: DIR/xdskit.yaml if it exists)")
    .option(
      "--state <dir>",
      "the folder for revisions; off: keep none (default: $STATE_DIRECTORY, or below ~/.local/state)",
    )
    .addOption(
      new Option("--store <url>", "keep revisions in lmdb:DIR or etcd://HOST:PORT,…/PREFIX (docs/state.md)")
        .argParser(readStoreUrl)
        .conflicts("state"),
    )
    .addOption(
      readOption(
        "--replica <host:port>",
        "address where other servers of the store ask this one (docs/replicas.md)",
        readAddress,
      ),
    )
    .addOption(readOption("--advertise <host:port>", "where they reach it, if that is another address", readAddress))
    .option("--settle <duration>", "changes within this time are published together (default: 100ms)", readDuration)
    .option("--allow-empty", "start even if there is nothing to serve")
    .option("--allow-partial", "without a last good revision, leave out files with errors and serve the rest")
    .addOption(
      wordOption(
        "--references <word>",
        "what to do with changes that remove what others name; strict: also with names that nobody has (default: refuse)",
        ["strict", "refuse", "warn"],
      ),
    )
    .option("--workers <count>", "processes that serve; auto: one for each processor (default: 1)", readWorkers);
  return addOutputOptions(command)
    .addHelpText("after", details)
    .action(async (named: string | undefined, options: ServeArguments) => {
      const kubernetes = clusterOf(options, command);
      const directory = named ?? (kubernetes === undefined ? "./config" : undefined);
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runServe } = await import("./run-serve.js");
      const { settings, state, store, settle, allowEmpty = false, allowPartial = false, workers, references } = options;
      const { replica, advertise } = options;
      const changes = { settle, allowEmpty, allowPartial, references };
      const own = { directory, kubernetes, settings, state, store, workers, replica, advertise, ...changes };
      exit(await runServe({ ...servingOptions(options, command), ...own }, terminal));
    });
}
