import { writeFileSync } from "node:fs";
import { serverChecks } from "../checks/all-checks.js";
import { jsonReport } from "../report/json.js";
import { junitReport } from "../report/junit.js";
import { printExplanation, printList, printResult, printSummary, type Terminal } from "../report/terminal.js";
import { isAgainst, type Result } from "../run/result.js";
import { runChecks } from "../run/run-checks.js";
import { checkOf, readServerOptions } from "./server-options.js";
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

async function commanded(args: readonly string[], terminal: Terminal): Promise<number> {
  const [command, ...rest] = args;
  if (command === "list" || rest.includes("--list")) return printed(() => printList(serverChecks, terminal));
  if (args.includes("--help") || command === "help") return printed(() => terminal.out(help));
  const explained = command === "explain" ? 0 : rest.indexOf("--explain") + 1;
  if (command === "explain" || explained > 0) {
    const [id, ...more] = command === "explain" ? rest : rest.slice(explained);
    if (id === undefined || more.length > 0) throw new Usage("say one check: xds-conformance explain ID");
    return printed(() => printExplanation(checkOf(id, serverChecks), terminal));
  }
  if (command === "server") return await judged(rest, terminal);
  throw new Usage(`${command === undefined ? "say what to do" : `there is no command ${command}`}; see --help`);
}

function printed(print: () => void): number {
  print();
  return 0;
}

async function judged(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = readServerOptions(args, serverChecks);
  const { target, requirements, junit, json } = options;
  // A report that cannot be written is said at once, and not after minutes.
  for (const file of [junit, json]) if (file !== undefined) write(file, "");
  const driver = options.startDriver(terminal.err);
  const onResult = (result: Result) => printResult(result, terminal);
  const results = await runChecks({ ...options, driver, onResult }).finally(() => driver?.close());
  if (junit !== undefined) write(junit, junitReport(target.address, results));
  if (json !== undefined) write(json, jsonReport(target.address, requirements, results));
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
