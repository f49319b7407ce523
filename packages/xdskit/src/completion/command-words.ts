import { resourceTypes } from "@xdskit/api";
import type { Argument, Command, Option } from "commander";
import type { Terminal } from "../output/terminal.js";

/** What a shell may offer for one word. */
export interface OfferedWords {
  /** Undefined: a file, or anything. */
  readonly choices: readonly string[] | undefined;
}

/** An option of a command. */
export interface OptionWords {
  /** `-o`, `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** What follows it; undefined: nothing does. */
  readonly value: OfferedWords | undefined;
}

/** A command with all that may follow it. */
export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  readonly argument: OfferedWords | undefined;
}

/** A command in the list of all. */
export interface ListedCommand extends Pick<CommandWords, "name" | "summary"> {
  readonly load: () => Promise<(terminal: Terminal, exit: (status: number) => void) => Command>;
}

/** Makes a command, as it is called. */
export type Define = (
  command: Pick<ListedCommand, "load">,
  terminal: Terminal,
  exit: (status: number) => void,
) => Promise<Command>;

/** The words of all commands, from the definitions that `--help` shows. */
export async function commandWords(
  commands: readonly ListedCommand[],
  define: Define,
): Promise<readonly CommandWords[]> {
  const terminal = { out: () => {}, err: () => {} };
  const load = async (listed: ListedCommand): Promise<CommandWords> =>
    wordsOf(listed.name, listed.summary, await define(listed, terminal, () => {}));
  return await Promise.all(commands.map(load));
}

function wordsOf(name: string, summary: string, command: Command): CommandWords {
  const help = { flags: ["-h", "--help"], description: "display help for command", value: undefined };
  const [argument] = command.registeredArguments;
  return {
    name,
    summary,
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionWords), help],
    argument: argument && argumentWords(argument),
  };
}

function optionWords({ short, long, description, required, optional, argChoices }: Option): OptionWords {
  const isType = long === "--type";
  return {
    flags: [short, long].flatMap((flag) => flag ?? []),
    description,
    value: required || optional ? { choices: argChoices ?? (isType ? types : undefined) } : undefined,
  };
}

function argumentWords(argument: Argument): OfferedWords {
  return { choices: argument.argChoices ?? (argument.name() === "type" ? types : undefined) };
}

const types = resourceTypes.all.map(({ name }) => name);
