import { logFormats, logLevels } from "@xdskit/admin/log-options";
import type { ListenAddress } from "@xdskit/server/address";
import type { Command } from "commander";
import type { ServingOptions } from "../daemon/serving.js";
import { type FileFormat, fileFormats } from "../daemon/to-files/file-formats.js";
import {
  collect,
  readDurationWithUnit,
  readListenAddress,
  readOption,
  readOptionalListenAddress,
  readServerName,
  wordOption,
} from "./arguments.js";

/** The options of every command that serves, as commander reads them. */
export interface ServingArguments
  extends Pick<ServingOptions, "name" | "grpc" | "restHold" | "admin" | "logLevel" | "logFormat"> {
  readonly insecure?: boolean;
  readonly rest: ListenAddress | "off";
  readonly settings?: string;
  readonly descriptors?: readonly string[];
  readonly toFiles?: string;
  readonly toFilesGroup?: string;
  readonly toFilesPath?: string;
  readonly toFilesFormat?: FileFormat;
}

/** Adds the ports. */
export function addPortOptions(command: Command): Command {
  return command
    .addOption(
      readOption(
        "--grpc <host:port>",
        "address for Envoys and gRPC clients, or unix:/PATH; port 0 picks a free port",
        readListenAddress,
        "127.0.0.1:18000",
      ),
    )
    .addOption(
      readOption(
        "--rest <host:port>",
        "address for REST clients; off: no REST",
        readOptionalListenAddress,
        "127.0.0.1:18001",
      ),
    )
    .option("--rest-hold <duration>", "how long a poll waits for a change (default: 800ms)", readDurationWithUnit)
    .addOption(
      readOption(
        "--admin <host:port>",
        "address for the dashboard, the API, /readyz and /metrics",
        readListenAddress,
        "127.0.0.1:19000",
      ),
    )
    .addOption(readOption("--name <name>", "what people call this server, for its page and metrics", readServerName))
    .option("--insecure", "listen beyond this machine also without TLS and without roles (docs/security.md)");
}

/** Adds the options for descriptors, files and the log. */
export function addOutputOptions(command: Command): Command {
  return command
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect)
    .option("--to-files <dir>", "also write the served resources to this folder, for Envoys that read files")
    .option("--to-files-group <name>", "the group whose resources are written (default: the only one)")
    .option(
      "--to-files-path <dir>",
      "the path of that folder for Envoy, if Envoy runs on another machine (default: DIR)",
    )
    .addOption(
      wordOption(
        "--to-files-format <format>",
        "json, or pb: binary, which also keeps fields that xdskit does not know (default: json)",
        fileFormats,
      ),
    )
    .addOption(wordOption("--log-level <level>", "how much to log", logLevels, "info"))
    .addOption(wordOption("--log-format <format>", "pretty for people, json for machines", logFormats, "pretty"));
}

/** What a command that serves needs of the options. Ends with a usage error for options that need `--to-files`. */
export function servingOptions(options: ServingArguments, command: Command): ServingOptions {
  const { name, grpc, rest, restHold, admin, insecure = false, descriptors = [], logLevel, logFormat } = options;
  const { toFiles: directory, toFilesGroup: group, toFilesPath: path, toFilesFormat: format } = options;
  const [other] = Object.entries({ group, path, format }).filter(([, value]) => value !== undefined);
  if (directory === undefined && other !== undefined) command.error(`error: --to-files-${other[0]} is for --to-files`);
  const toFiles = directory === undefined ? undefined : { directory, group, path, format };
  const ports = { name, grpc, rest: rest === "off" ? undefined : rest, restHold, admin, insecure };
  return { ...ports, toFiles, descriptors, logLevel, logFormat };
}
