import type { Command, Option } from "commander";
import { outputFormats } from "../asking/output/output-format.js";
import type { WatchOptions } from "../asking/watch-options.js";
import { collect, metadataOption, readDuration, readDurationWithUnit, readOption, wordOption } from "./arguments.js";
import { forXds } from "./environment.js";
import { addTlsOptions, addTokenOption, refuseHalfPair } from "./tls-options.js";
import { validateOption } from "./validate-option.js";

/** The options that `watch` and `get` share, as commander reads them. */
export interface ClientArguments extends Omit<WatchOptions, "command" | "type" | "names" | "timeoutMs" | "stdin"> {
  readonly type?: string;
  readonly timeout?: number;
}

/** Adds the options for asking a management server. */
export function addClientOptions(command: Command): Command {
  command
    .argument("[type]", "the type, unless --type gives it")
    .argument("[name...]", "the names (default: *, all of the type)")
    .option(
      "--type <type>",
      "cluster, endpoint, listener, route … (also cds, …), or a type URL; all arguments are names then",
    )
    .option(
      "--server <host:port>",
      "a management server; further ones are fallbacks, in order (default: 127.0.0.1:18000)",
      collect,
    )
    .addOption(
      wordOption("--variant <variant>", "state of the world, or incremental (default: delta)", ["sotw", "delta"]),
    )
    .option("--ads", "one aggregated stream instead of the type's own service")
    .option(
      "--also <type=name,…>",
      "a further type on the aggregated stream (implies --ads); without names: all; may be repeated",
      collect,
    )
    .addOption(wordOption("--api <version>", "the version of the protocol (default: v3)", ["v2", "v3"]))
    .option("--rest <url>", "poll a server over REST-JSON, such as http://127.0.0.1:18001; may be repeated", collect)
    .option("--refresh-delay <duration>", "REST: time between a response and the next poll (default: 1s)", readDuration)
    .option("--path <file>", "follow a file, as Envoy does (path_config_source)")
    .option("--watched-directory <dir>", "read the file again after something was moved into this folder")
    .option("--bootstrap <file>", "take servers and node from a bootstrap: gRPC's JSON, or Envoy's YAML or JSON")
    .option("--node-id <id>", "the node's id (default: xdskit)")
    .option("--node-cluster <name>", "the node's cluster")
    .addOption(metadataOption("the node"));
  addTokenOption(addTlsOptions(command), "stream or poll")
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect)
    .addOption(validateOption())
    .addOption(
      wordOption(
        "-o, --output <format>",
        "yaml: documents; json, jsonl: events; name, wide: a line for each resource",
        outputFormats,
        "yaml",
      ),
    )
    .option("--show-secrets", "show keys, tokens and passwords");
  return forXds(command);
}

/** An option of a time, with its unit. */
export function timeoutOption(description: string): Option {
  return readOption("--timeout <duration>", description, readDurationWithUnit);
}

/** Options that exclude each other, for the usage error. */
const conflicts: { readonly [Option in keyof ClientArguments]?: readonly (keyof ClientArguments)[] } = {
  rest: ["server", "ads"],
  path: ["server", "rest", "ads", "also", "variant", "tls", "tlsCa", "tokenFile"],
  bootstrap: ["server", "rest", "path", "variant", "ads", "api", "tls", "tlsCa", "tlsCert", "tokenFile"],
};

const typeUrlStart = "type.googleapis.com/";

/** Checks the options; ends with a usage error if they do not fit together. */
export function watchOptions(
  command: Command,
  [first, more]: readonly [string | undefined, readonly string[]],
  read: ClientArguments,
  kind: WatchOptions["command"],
): WatchOptions {
  const error = (text: string): never => command.error(`error: ${text}`);
  const option = (key: string) => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  for (const [one, others] of Object.entries(conflicts)) {
    const other = others.find((other) => read[one as keyof ClientArguments] !== undefined && read[other] !== undefined);
    if (other !== undefined) error(`${option(one)} and ${option(other)} exclude each other`);
  }
  if (read.rest !== undefined && read.variant === "delta")
    error("REST is state of the world: leave --variant delta out");
  if (read.rest === undefined && read.refreshDelay !== undefined) error("--refresh-delay is for --rest");
  if (read.path === undefined && read.watchedDirectory !== undefined) error("--watched-directory is for --path");
  refuseHalfPair(read, command);
  const words = first === undefined ? more : [first, ...more];
  const [type, ...names] = read.type === undefined ? words : [read.type, ...words];
  if (type === undefined) error(`say what to ask for, as in: xdskit ${kind} cluster`);
  // A name may have a slash, too, and any text with a slash may be an unknown type URL.
  if (read.type === undefined && type?.includes("/") && !type.startsWith(typeUrlStart))
    error(`without --type the first word is the type, and ${JSON.stringify(type)} looks like a name: add --type`);
  const { timeout, ...rest } = read;
  return { ...rest, command: kind, type: type as string, names, timeoutMs: timeout };
}
