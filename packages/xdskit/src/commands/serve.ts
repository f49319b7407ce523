import type { Address } from "@xdskit/server/address";
import { Command, Option } from "commander";
import { type LogFormat, type LogLevel, logFormats, logLevels } from "../output/log-options.js";
import type { Terminal } from "../output/terminal.js";
import type { FileFormat } from "../to-files/file-formats.js";
import {
  addressOption,
  collect,
  optionalAddressOption,
  readDuration,
  readDurationWithUnit,
  readWorkers,
} from "./arguments.js";
import {
  toFilesFormatOption,
  toFilesGroupOption,
  toFilesOption,
  toFilesPathOption,
  toFilesSettings,
} from "./to-files-options.js";

interface Options {
  readonly grpc: Address;
  readonly rest: Address | "off";
  readonly restHold?: number;
  readonly admin: Address;
  readonly settings?: string;
  readonly settle?: number;
  readonly allowEmpty?: boolean;
  readonly allowPartial?: boolean;
  readonly descriptors?: readonly string[];
  readonly workers?: number | "auto";
  readonly toFiles?: string;
  readonly toFilesGroup?: string;
  readonly toFilesPath?: string;
  readonly toFilesFormat?: FileFormat;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const details = `
Standard output holds one line for each listener ("grpc listening on 127.0.0.1:18000") and "ready" once the first
configuration is served. Logs go to standard error. SIGTERM and SIGINT end every stream and exit with 0; a second
one does not wait. Exit status: 2 when there is nothing to serve or the usage is wrong, 1 when an address is taken.
A file holds resources, or what an Envoy has already: its bootstrap, a config dump, what istioctl and egctl print
(docs/adopt.md). While some files have errors at the start, the ports for clients stay closed, and /readyz says
what must be fixed.

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
  return new Command("serve")
    .description("Serves the resources found in a folder to Envoys and gRPC clients, and follows its changes.")
    .argument("[dir]", "the folder", "./config")
    .addOption(
      addressOption("--grpc <host:port>", "where Envoys and gRPC clients connect; port 0 picks one", "127.0.0.1:18000"),
    )
    .addOption(optionalAddressOption("--rest <host:port>", "where REST clients poll; off: nowhere", "127.0.0.1:18001"))
    .option("--rest-hold <duration>", "how long a poll waits for something new (default: 800ms)", readDurationWithUnit)
    .addOption(addressOption("--admin <host:port>", "where /livez, /readyz, /metrics are", "127.0.0.1:19000"))
    .option("--settings <file>", "groups, limits … (default: DIR/xdskit.yaml if it is there)")
    .option("--settle <duration>", "changes within this time are one change (default: 100ms)", readDuration)
    .option("--allow-empty", "start even if there is nothing to serve yet")
    .option("--allow-partial", "at the start, serve the files without errors and leave out the others")
    .option("--descriptors <file>", "a descriptor set with messages of your own; may be repeated", collect)
    .option("--workers <count>", "threads that serve gRPC, or auto: one a processor (default: 1)", readWorkers)
    .addOption(toFilesOption())
    .addOption(toFilesGroupOption())
    .addOption(toFilesPathOption())
    .addOption(toFilesFormatOption())
    .addOption(new Option("--log-level <level>", "how much to log").choices(logLevels).default("info"))
    .addOption(new Option("--log-format <format>", "for people, or for machines").choices(logFormats).default("pretty"))
    .addHelpText("after", details)
    .action(async (directory: string, options: Options, command: Command) => {
      // Loaded only now: other commands start faster without gRPC and the messages.
      const { runServe } = await import("../serve/run-serve.js");
      const { allowEmpty = false, allowPartial = false, descriptors = [] } = options;
      const rest = options.rest === "off" ? undefined : options.rest;
      const toFiles = toFilesSettings(options, command);
      exit(await runServe({ ...options, rest, directory, allowEmpty, allowPartial, descriptors, toFiles }, terminal));
    });
}
