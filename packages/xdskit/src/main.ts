import { Command, CommanderError } from "commander";
import { bootstrapCommand } from "./commands/bootstrap.js";
import { getCommand } from "./commands/get.js";
import { planCommand } from "./commands/plan.js";
import { relayCommand } from "./commands/relay.js";
import { serveCommand } from "./commands/serve.js";
import { statusCommand } from "./commands/status.js";
import { validateCommand } from "./commands/validate.js";
import { watchCommand } from "./commands/watch.js";
import { exitStatus } from "./exit-status.js";
import { processTerminal, type Terminal } from "./output/terminal.js";
import { version } from "./version.js";

const examples = `
Examples:
  $ xdskit serve ./config                  serve the resources found in a folder
  $ xdskit relay --server origin:18000     serve what another server has
  $ xdskit validate ./config               check them without serving
  $ xdskit plan ./config ./config.new      show in which stages a change reaches clients
  $ xdskit status                          show what each client has, and what it rejected
  $ xdskit get --type cluster              print what a server gives
  $ xdskit watch --type endpoint web       and every change of it
  $ xdskit bootstrap > envoy.yaml          print the bootstrap with which an Envoy finds this server

Every command explains itself: xdskit COMMAND --help
`;

/** Runs the command line and resolves to the exit status. Never rejects. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  let status: number = exitStatus.ok;
  const exit = (value: number) => {
    status = value;
  };
  const program = new Command("xdskit")
    .description("xDS on the command line: a management server for Envoy and gRPC in one command.")
    .version(version, "-V, --version")
    .addHelpText("after", examples)
    .addCommand(serveCommand(terminal, exit))
    .addCommand(relayCommand(terminal, exit))
    .addCommand(validateCommand(terminal, exit))
    .addCommand(planCommand(terminal, exit))
    .addCommand(statusCommand(terminal, exit))
    .addCommand(getCommand(terminal, exit))
    .addCommand(watchCommand(terminal, exit))
    .addCommand(bootstrapCommand(terminal));
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showHelpAfterError(`(see: xdskit ${command === program ? "" : `${command.name()} `}--help)`)
      .configureOutput({ writeOut: terminal.out, writeErr: terminal.err });
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
    return status;
  } catch (error) {
    return report(error, terminal);
  }
}

function report(error: unknown, terminal: Terminal): number {
  // Commander wrote its message already; 0 is --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
  terminal.err(`xdskit: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return exitStatus.failed;
}
