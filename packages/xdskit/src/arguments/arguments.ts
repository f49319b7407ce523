import {
  type Address,
  type ListenAddress,
  maxSocketPath,
  parseAddress,
  parseListenAddress,
} from "@xdskit/server/address";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../settings/options/duration.js";

/** An option whose value is read by a function; `usual` is the default, as a user would write it. */
export function readOption(
  flags: string,
  description: string,
  read: (text: string) => unknown,
  usual?: string,
): Option {
  const option = new Option(flags, description).argParser(read);
  return usual === undefined ? option : option.default(read(usual), usual);
}

/** An option whose value is one of these words. */
export function wordOption(flags: string, description: string, words: readonly string[], usual?: string): Option {
  const option = new Option(flags, description).choices(words);
  return usual === undefined ? option : option.default(usual);
}

/** Reads `HOST:PORT`. */
export function readAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined)
    throw new InvalidArgumentError("Expected HOST:PORT, such as 127.0.0.1:18000 or [::1]:18000.");
  return address;
}

/** Reads `HOST:PORT`, or `unix:/PATH`. */
export function readListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address === undefined)
    throw new InvalidArgumentError(
      `Expected HOST:PORT, such as 127.0.0.1:18000 or [::1]:18000, or unix:/PATH with at most ${maxSocketPath} bytes.`,
    );
  return address;
}

/** The same for an optional address: `off`, or nothing, is read as `off`. */
export function readOptionalListenAddress(text: string): ListenAddress | "off" {
  return text === "" || text === "off" ? "off" : readListenAddress(text);
}

/** Reads an option's port number. */
export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new InvalidArgumentError("Expected a port number from 0 to 65535.");
}

/** Reads the number of worker processes. */
export function readWorkers(text: string): number | "auto" {
  if (text === "auto") return text;
  // The upper limit is checked where they are started.
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number of processes, or "auto".');
}

/** Reads an option's duration as milliseconds; a number without a unit is milliseconds. */
export function readDuration(text: string): number {
  const value = parseDuration(/^\d+$/.test(text) ? `${text}ms` : text);
  if (value === undefined) throw new InvalidArgumentError('Expected a duration, such as "100ms" or "2s".');
  return value;
}

/** The same, but needs the unit: a number alone could be taken for seconds. */
export function readDurationWithUnit(text: string): number {
  const value = parseDuration(text);
  if (value === undefined)
    throw new InvalidArgumentError('Expected a duration with its unit, such as "800ms" or "50s".');
  return value;
}

/** The same, within bounds. */
export function readDurationBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = readDurationWithUnit(text);
    if (value < least || value > most)
      throw new InvalidArgumentError(`Expected a duration from ${least}ms to ${most / 1000}s.`);
    return value;
  };
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Collects versions of Envoy. */
export function collectEnvoyVersion(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^v?\d{1,4}\.\d{1,4}(\.\d+)?$/.test(text))
    throw new InvalidArgumentError("Expected a version of Envoy, such as 1.36.");
  return [...before, text];
}

/** `--metadata`, which may be repeated. */
export function metadataOption(whose: string): Option {
  const what = `metadata of ${whose}: a text, or JSON in { } or [ ]; may be repeated`;
  return readOption("--metadata <key=value>", what, readMetadata);
}

/** Collects `key=value`; a value in braces or brackets is JSON. */
export function readMetadata(
  text: string,
  before: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Expected KEY=VALUE, such as stage=prod.");
  const value = text.slice(equals + 1);
  return Object.fromEntries([...Object.entries(before), [text.slice(0, equals), metadataValue(value)]]);
}

function metadataValue(text: string): unknown {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("A value that begins with { or [ must be JSON.");
  }
}

/** Reads a name for people: it stands in a title, and is the label of a metric. */
export function readServerName(text: string): string {
  if (/^[^\s\p{C}](?:[^\p{C}]{0,61}[^\s\p{C}])?$/u.test(text)) return text;
  throw new InvalidArgumentError("Expected a name of at most 63 characters, such as prod-eu.");
}

/** Reads a number of things. */
export function readCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count > 0 && count <= 1_000_000) return count;
  throw new InvalidArgumentError("Expected a whole number from 1 to 1000000.");
}

/** A command that prints JSON takes both `--output json` and `--json` for it. */
export function withBothForms(command: Command): Command {
  const output = command.options.find(({ long }) => long === "--output");
  const json = command.options.find(({ long }) => long === "--json");
  if (json === undefined && output?.argChoices?.includes("json")) command.option("--json", "the same as --output json");
  else if (json !== undefined && output === undefined)
    command.addOption(wordOption("-o, --output <format>", "json is the same as --json", ["text", "json"], "text"));
  else return command;
  return command.hook("preAction", (_, called) => {
    const { output, json } = called.opts<{ output?: string; json?: boolean }>();
    if (json) called.setOptionValueWithSource("output", "json", "cli");
    else if (output === "json") called.setOptionValueWithSource("json", true, "cli");
  });
}
