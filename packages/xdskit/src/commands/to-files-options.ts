import { type Command, Option } from "commander";
import { type FileFormat, fileFormats } from "../to-files/file-formats.js";
import type { ToFilesSettings } from "../to-files/to-files.js";

/** The options for files, as commander reads them. */
export interface ToFilesArguments {
  readonly toFiles?: string;
  readonly toFilesGroup?: string;
  readonly toFilesPath?: string;
  readonly toFilesFormat?: FileFormat;
}

/** The folder. */
export function toFilesOption(): Option {
  return new Option("--to-files <dir>", "also write what is served to this folder, for Envoys that read files");
}

/** The group whose resources are written. */
export function toFilesGroupOption(): Option {
  return new Option("--to-files-group <name>", "the group whose resources are written (default: the only one)");
}

/** Envoy's name for the folder. */
export function toFilesPathOption(): Option {
  return new Option(
    "--to-files-path <dir>",
    "what Envoy calls that folder, where it is another machine's (default: DIR)",
  );
}

/** The format of the files. */
export function toFilesFormatOption(): Option {
  return new Option(
    "--to-files-format <format>",
    "json, or pb: binary, which also holds what xdskit does not know (default: json)",
  ).choices(fileFormats);
}

/** Undefined where no folder is named; ends with a usage error if the other options are given without it. */
export function toFilesSettings(options: ToFilesArguments, command: Command): ToFilesSettings | undefined {
  const { toFiles, toFilesGroup, toFilesPath, toFilesFormat } = options;
  if (toFiles !== undefined)
    return { directory: toFiles, group: toFilesGroup, path: toFilesPath, format: toFilesFormat };
  const others = { group: toFilesGroup, path: toFilesPath, format: toFilesFormat };
  const [other] = Object.entries(others).filter(([, value]) => value !== undefined);
  if (other !== undefined) command.error(`error: --to-files-${other[0]} is for --to-files`);
  return undefined;
}
