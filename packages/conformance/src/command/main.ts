import { writeFileSync } from "node:fs";
import { serverChecks } from "../checks/all-checks.js";
import { clientChecks } from "../checks/client/client-checks.js";
import type { Sentence } from "../checks/contract/check.js";
import { commandClient } from "../client/command-client.js";
import { jsonReport, yamlReport } from "../report/json.js";
import { junitReport } from "../report/junit.js";
import { printExplanation, printList, printResult, printSummary, type Terminal } from "../report/terminal.js";
import { isAgainst, type Result } from "../run/result.js";
import { runChecks } from "../run/run-checks.js";
import { runClientChecks } from "../run/run-client-checks.js";
import { readClientOptions } from "./client-options.js";
import { type CommonOptions, checkOf } from "./common-options.js";
import { readServerOptions } from "./server-options.js";
import { help, Usage } from "./usage.js";

/**
 * The command. Resolves to the exit status: 0 if every MUST holds or is expected to fail, 1 if not, 2 if the command
 * line is wrong.
 */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await commanded(args, terminal);
  } catch (error) {
    if (!(error instanceof Usage)) throw error;
    terminal.err(`xds-conformance: ${error.message}\n`);
    return 2;
  }
}

const allChecks: readonly Sentence[] = [...serverChecks, ...clientChecks];

async function commanded(args: readonly string[], terminal: Terminal): Promise<number> {
  const [command, ...all] = args;
  // What stands behind it is the client's.
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (command === "list" || own.includes("--list")) return printed(() => printList(allChecks, terminal));
  if (command === "help" || own.includes("--help")) return printed(() => terminal.out(help));
  const explained = command === "explain" ? 1 : own.indexOf("--explain") + 1;
  if (explained > 0) {
    const [id, ...more] = own.slice(explained);
    if (id === undefined || more.length > 0) throw new Usage("say one check: xds-conformance explain ID");
    return printed(() => printExplanation(checkOf(id, allChecks), terminal));
  }
  if (command === "server") return await judgedServer(all, terminal);
  if (command === "client") return await judgedClient(all, terminal);
  throw new Usage(`${command === undefined ? "say what to do" : `there is no command ${command}`}; see --help`);
}

function printed(print: () => void): number {
  print();
  return 0;
}

async function judgedServer(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = readServerOptions(args, serverChecks);
  return await judged(options.target.address, options, terminal, async (onResult) => {
    const driver = options.startDriver(terminal.err);
    return await runChecks({ ...options, driver, onResult }).finally(() => driver?.close());
  });
}

async function judgedClient(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = readClientOptions(args, clientChecks);
  const start = commandClient(options.command, terminal.err);
  // An argument may be a secret.
  const [name = ""] = options.command;
  return await judged(name, options, terminal, (onResult) => runClientChecks({ ...options, start, onResult }));
}

async function judged(
  peer: string,
  { requirements, junit, json, yaml }: CommonOptions<Sentence>,
  terminal: Terminal,
  run: (onResult: (result: Result) => void) => Promise<readonly Result[]>,
): Promise<number> {
  // A report that cannot be written is said at once, and not after minutes.
  for (const file of [junit, json, yaml]) if (file !== undefined) write(file, "");
  const results = await run((result) => printResult(result, terminal));
  if (junit !== undefined) write(junit, junitReport(peer, results));
  if (json !== undefined) write(json, jsonReport(peer, requirements, results));
  if (yaml !== undefined) write(yaml, yamlReport(peer, requirements, results));
  printSummary(results, terminal);
  return results.some(isAgainst) ? 1 : 0;
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new Usage(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}
