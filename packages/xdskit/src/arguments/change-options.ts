import { type Command, InvalidArgumentError } from "commander";
import type { CommitOptions } from "../api-writes/commit-change.js";
import { addServerOptions, outputOption, waitOption } from "./api-server-options.js";

/** The options that every command has which changes a layer. */
export interface ChangeArguments extends Omit<CommitOptions, "wait"> {
  /** `true` where nothing follows it. */
  readonly wait?: string | true;
}

/** Adds them. */
export function addChangeOptions(command: Command): Command {
  return addServerOptions(command)
    .option("-m, --message <text>", "why, for the history")
    .option("--dry-run", "show what would differ, and change nothing")
    .option("--wait [how]", "wait until nodes have acknowledged it: --wait for all, --wait=50% for half")
    .addOption(waitOption("how long to wait for nodes"))
    .addOption(outputOption());
}

/** Reads the value of `--wait`: `all`, `50%`. */
export function readWait(text: string | true | undefined): { readonly percent: number } | undefined {
  if (text === undefined) return undefined;
  if (text === true || text === "all") return { percent: 100 };
  const percent = Number(/^(\d{1,3})%?$/.exec(text)?.[1]);
  if (percent >= 1 && percent <= 100) return { percent };
  throw new InvalidArgumentError(`Expected --wait, --wait=all or a percentage as in --wait=50%, not "${text}".`);
}

/** The options as the commands' code takes them; ends with a usage error where they are wrong. */
export function changeOptions(command: Command, { wait, ...options }: ChangeArguments) {
  try {
    return { ...options, wait: readWait(wait) };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: ${error.message}`);
  }
}
