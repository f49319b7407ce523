import { Command } from "commander";
import { outputOption } from "../arguments/api-server-options.js";
import { readDurationWithUnit, wordOption } from "../arguments/arguments.js";
import type { Terminal } from "../output/terminal.js";

interface AuditArguments {
  readonly who?: string;
  readonly action?: string;
  readonly result?: "done" | "refused" | "failed";
  readonly since?: number;
  readonly output: "text" | "json";
}

const details = `
Reads the file that "audit" in the settings names, whose lines are JSON: time, who, rule, from, action, target, result.
Docs: docs/security.md

Exit status: 0 if the file was read, 1 if not, 2 if the usage is wrong.

Examples:
  $ xdskit audit audit.jsonl --since 24h --result refused
  $ xdskit audit audit.jsonl --who "token ci" --output json | jq -r .target
`;

/** `xdskit audit`: shows who did what at the admin listener. */
export function auditCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("audit")
    .description("Shows who changed what, and who was refused, from the audit of a server.")
    .argument("<file>", "the file of the audit")
    .option("--who <pattern>", "only of these, with * and ?")
    .option("--action <pattern>", "only such as change, rollback, rollout*, settings")
    .addOption(wordOption("--result <result>", "only with this result", ["done", "refused", "failed"]))
    .option("--since <duration>", "only of the last time, such as 24h", readDurationWithUnit)
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (file: string, options: AuditArguments) => {
      const { runAudit } = await import("./run-audit.js");
      exit(await runAudit({ ...options, file }, terminal));
    });
}
