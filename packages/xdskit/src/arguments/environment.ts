import type { EventEmitter } from "node:events";
import type { Command, Option } from "commander";
import type { Terminal } from "../output/terminal.js";

const prefix = "XDSKIT_";

/** The variable that gives an option its value where the command line does not: `XDSKIT_GRPC` for `--grpc`. */
export function variableOf({ envVar, long }: Option): string | undefined {
  return envVar ?? (long && `${prefix}${long.slice(2).replaceAll("-", "_").toUpperCase()}`);
}

/**
 * Options of commands that ask a management server. The admin listener's have the same names, and so have the listener
 * and the files of a server in the same environment.
 */
const ofServer = /^--(?:server|token-file|tls(?:-\w+)*|rest(?= <url>)|path(?= <file>))(?: |$)/;

/** Gives such options names of their own, `XDSKIT_XDS_SERVER`: a token must not go to another server. */
export function forXds(command: Command): Command {
  for (const option of command.options) {
    const { long, flags } = option;
    if (long && ofServer.test(flags)) option.env(`${prefix}XDS_${long.slice(2).replaceAll("-", "_").toUpperCase()}`);
  }
  return command;
}

/**
 * Lets the options of a command take their values from the environment, where the command line does not name them. An
 * empty variable counts as unset. Ends with a usage error for a switch that is neither true nor false.
 */
export function takeEnvironment(command: Command, env: NodeJS.ProcessEnv = process.env): void {
  for (const option of command.options) {
    const name = variableOf(option);
    const value = name === undefined || isOfKubernetes(name, env[name]) ? undefined : env[name];
    const isSwitch = !option.required && !option.optional;
    if (value !== undefined && isSwitch && !/^(true|false|1|0|)$/i.test(value))
      command.error(`error: ${name} must be true or false, for ${option.long}`);
    const isSet = value !== undefined && value !== "" && !(isSwitch && /^(false|0)$/i.test(value));
    // The package takes any text as true, also none.
    if (value === undefined) continue;
    option.envVar = isSet ? name : undefined;
    if (isSet) listen(command, option);
  }
}

/** The package listens for an option's variable where that was known when the option was added. */
function listen(command: Command, option: Option): void {
  const event = `optionEnv:${option.name()}`;
  // It is one, though its type does not say so.
  if ((command as unknown as EventEmitter).listenerCount(event) > 0) return;
  command.on(event, (text?: string) => {
    try {
      const value = text === undefined ? true : option.parseArg === undefined ? text : option.parseArg(text, undefined);
      command.setOptionValueWithSource(option.attributeName(), value, "env");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      command.error(`error: option '${option.flags}' value '${text}' from env '${option.envVar}' is invalid. ${why}`);
    }
  });
}

/** What the help of a command says of it. */
export function environmentHelp(command: Command): string {
  const [first] = command.options.flatMap((option) => {
    const name = variableOf(option);
    return name === undefined || option.envVar !== undefined ? [] : [`${name} for ${option.long}`];
  });
  if (first === undefined) return "";
  return `
Each option may also come from the environment, such as ${first}.
What the command line says wins.
`;
}

/** Set by ourselves or read elsewhere, or usual for all commands: to learn that needs no other command's definition. */
const others = /^XDSKIT_(PLACE$|ETCD_|TESTS_|E2E_|COMMAND$|SERVER$|TOKEN_FILE$)/;
/** Kubernetes gives these to a container where a Service is called xdskit. */
const ofKubernetes = /^XDSKIT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$/;

/** Warns of variables that look like ours, and that no option of any command has. */
export async function warnOfUnknownVariables(
  called: Command,
  all: () => Promise<readonly Command[]>,
  terminal: Terminal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const namesOf = (command: Command) => command.options.flatMap((option) => variableOf(option) ?? []);
  const own = new Set(namesOf(called));
  const odd = Object.keys(env).filter((name) => name.startsWith(prefix) && !own.has(name) && isForUs(name));
  // One of several processes: the first one said it.
  if (odd.length === 0 || env.XDSKIT_WORKER !== undefined) return;
  const known = (await all()).flatMap(namesOf);
  const { didYouMean } = await import("@xdskit/api");
  for (const name of odd) {
    if (!known.includes(name))
      terminal.err(`xdskit: warning: ${name} is set, and no option has this name${didYouMean(name, known)}\n`);
  }
}

/** `XDSKIT_ADMIN_PORT=tcp://10.0.0.1:19000` is no port. */
function isOfKubernetes(name: string, value = ""): boolean {
  return ofKubernetes.test(name) && value.includes("://");
}

function isForUs(name: string): boolean {
  return !others.test(name) && !ofKubernetes.test(name);
}
