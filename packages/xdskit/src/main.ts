import type { Command, CommanderError } from "commander";
import { commands, definedCommand } from "./commands.js";
import { processTerminal, type Terminal } from "./output/terminal.js";
import { exitStatus } from "./process/exit-status.js";
import { isStopping } from "./process/signals.js";
import { version } from "./process/version.js";

const examples = `
Examples:
  $ xdskit serve ./config                  serve the resources found in a folder
  $ xdskit relay --server origin:18000     serve the resources of another server
  $ xdskit validate ./config               check the folder without serving it
  $ xdskit plan ./config ./config.new      show the stages in which a change reaches clients
  $ xdskit diff ./config                   show what differs from what a running server has
  $ xdskit apply -f route.yaml --wait      change a running server, and wait for its clients
  $ xdskit history                         list the changes, with who made them and why
  $ xdskit rollback                        serve what was before the newest change
  $ xdskit status                          show what each client has and what it rejected
  $ xdskit top                             watch a whole fleet, the worst nodes first
  $ xdskit rollout status                  show the changes that reach nodes step by step
  $ xdskit get cluster                     print the clusters that a server sends
  $ xdskit watch endpoint web              show endpoints and their changes
  $ xdskit bench --ads --nodes 1000        simulate a thousand proxies, and measure the server
  $ xdskit bootstrap > envoy.yaml          print a bootstrap that points an Envoy to this server

For the options of a command: xdskit COMMAND --help
`;

/**
 * Runs the command line and resolves to the exit status, once its output is written or its reader is gone; after a
 * signal it does not wait for a slow reader. Never rejects.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const status = await run(argv, terminal);
  if (!isStopping()) await terminal.flushed?.();
  return status;
}

async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  // Scripts call this again and again: it needs nothing of the code below.
  if (argv.length === 1 && isVersion(argv[0])) {
    terminal.out(`${version}\n`);
    return exitStatus.ok;
  }
  let status: number = exitStatus.ok;
  const exit = (value: number) => {
    status = value;
  };
  let wrong = "";
  try {
    const args = withoutHelpCommand(argv);
    const program = await programFor(args, terminal, exit, (text) => {
      wrong += text;
    });
    await program.parseAsync([...args], { from: "user" });
    return status;
  } catch (error) {
    if (wrong !== "") (await import("./output/screen/told.js")).tell(terminal, wrong, "err");
    return report(error, terminal);
  }
}

/**
 * `help`, `help COMMAND` and, of a command with actions, `COMMAND help` as `--help`: the package takes whatever status
 * is set by then for theirs, also the one that says that the command has not ended yet. An unknown command is an error.
 */
function withoutHelpCommand(argv: readonly string[]): readonly string[] {
  const [first = "", name] = argv;
  const hasActions = commands.some((command) => command.name === first && command.usage?.includes("<action>"));
  if (hasActions && name === "help") return [first, "--help"];
  if (first !== "help") return argv;
  if (name === undefined || name === "help") return ["--help"];
  return commands.some((command) => command.name === name) ? [name, "--help"] : [name];
}

function isVersion(argument: string | undefined): boolean {
  return argument === "--version" || argument === "-V";
}

/**
 * The command line with the called command; the other commands only have their help text. `writeErr` takes what the
 * parser says of wrong usage.
 */
export async function programFor(
  argv: readonly string[],
  terminal: Terminal,
  exit: (status: number) => void,
  writeErr: (text: string) => void = terminal.err,
): Promise<Command> {
  const [{ Command, Help }, { fitHelp, helpWidth }] = await Promise.all([
    import("commander"),
    import("./output/help-text.js"),
  ]);
  const program = new Command("xdskit")
    .description("xDS on the command line: a management server for Envoy and gRPC in one command.")
    .version(version, "-V, --version")
    .addHelpText("after", examples);
  const called = argv.map((argument) => commands.find(({ name }) => name === argument)).find(Boolean);
  for (const entry of commands) {
    const command = entry === called ? await definedCommand(entry, terminal, exit) : new Command(entry.name);
    program.addCommand(command.summary(entry.summary).helpGroup(`${entry.group}:`));
  }
  const usages = new Map(commands.map(({ name, usage }) => [name, usage]));
  // It is read above.
  program.helpCommand(false);
  program.configureHelp({
    subcommandTerm: (command) => {
      const usage = usages.get(command.name());
      return usage === undefined ? new Help().subcommandTerm(command) : `${command.name()} ${usage}`;
    },
  });
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError(`(see: xdskit ${command === program ? "" : `${command.name()} `}--help)`)
      .configureOutput({
        writeOut: (text) => terminal.out(fitHelp(text)),
        writeErr,
        getOutHelpWidth: () => helpWidth,
      });
  }
  const command = program.commands.find((one) => one.name() === called?.name);
  if (command !== undefined) await useEnvironment(command, terminal);
  return program;
}

/** What the environment says of the called command. */
async function useEnvironment(command: Command, terminal: Terminal): Promise<void> {
  const { environmentHelp, takeEnvironment, warnOfUnknownVariables } = await import("./arguments/environment.js");
  command.addHelpText("after", environmentHelp(command));
  takeEnvironment(command);
  const nowhere = { out() {}, err() {} };
  const all = () => Promise.all(commands.map((entry) => definedCommand(entry, nowhere, () => {})));
  await warnOfUnknownVariables(command, all, terminal);
}

function report(error: unknown, terminal: Terminal): number {
  // Commander wrote its message already; 0 is --help and --version.
  if (isCommanders(error)) return error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
  terminal.err(`xdskit: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return exitStatus.failed;
}

/** Its class is not loaded for this. */
function isCommanders(error: unknown): error is CommanderError {
  return (
    error instanceof Error && "exitCode" in error && "code" in error && String(error.code).startsWith("commander.")
  );
}
