import { type Command, Option } from "commander";
import type { ToFilesSettings } from "../to-files/to-files.js";

/** What the options for files come to. */
export interface ToFilesArguments {
  readonly toFiles?: string;
  readonly toFilesGroup?: string;
  readonly toFilesPath?: string;
}

/** The folder. */
export function toFilesOption(): Option {
  return new Option("--to-files <dir>", "also write what is served to this folder, for Envoys that read files");
}

/** Whose resources. */
export function toFilesGroupOption(): Option {
  return new Option("--to-files-group <name>", "the group whose resources are written (default: the only one)");
}

/** What Envoy calls the folder. */
export function toFilesPathOption(): Option {
  return new Option(
    "--to-files-path <dir>",
    "what Envoy calls that folder, where it is another machine's (default: DIR)",
  );
}

/** Undefined where no folder is named; ends with a usage error where the others are named all the same. */
export function toFilesSettings(
  { toFiles, toFilesGroup, toFilesPath }: ToFilesArguments,
  command: Command,
): ToFilesSettings | undefined {
  if (toFiles === undefined && (toFilesGroup ?? toFilesPath) !== undefined)
    command.error(`error: ${toFilesGroup === undefined ? "--to-files-path" : "--to-files-group"} is for --to-files`);
  return toFiles === undefined ? undefined : { directory: toFiles, group: toFilesGroup, path: toFilesPath };
}
