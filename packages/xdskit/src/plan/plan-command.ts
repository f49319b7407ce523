import { Command } from "commander";
import { outputOption } from "../arguments/api-server-options.js";
import { collect } from "../arguments/arguments.js";
import type { Terminal } from "../output/terminal.js";
import type { PlanOptions } from "./run-plan.js";

type PlanArguments = Partial<Omit<PlanOptions, "old" | "new">> & { readonly output: "text" | "json" };

const details = `
Prints what differs in each resource, and the stages in which a client gets from OLD to NEW so that traffic never
breaks: resources that are added (+), changed (~) and removed (-), and what each stage waits for. Warnings about NEW go
to standard error. Docs: docs/plan.md

Exit status: 0 whether anything changes or not, 2 if the usage is wrong or a folder is invalid.

Examples:
  $ xdskit plan ./config ./config.new
  $ git worktree add ../live main && xdskit plan ../live/config ./config --group edge
  $ xdskit plan ./config ./config.new --json | jq '[.groups[].stages | length] | max'
`;

/** `xdskit plan`: shows how clients get from one folder to another. */
export function planCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("plan")
    .description("Shows the stages in which a change of a folder reaches clients, and what each stage waits for.")
    .argument("<old>", "the folder that is served")
    .argument("<new>", "the folder that will be served")
    .option("--group <name>", "only this group (default: every group)")
    .option("--settings <file>", "groups, limits and so on, for both (default: DIR/xdskit.yaml of each, if it exists)")
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect)
    .option("--full", "print all names, even if there are many")
    .addOption(outputOption())
    .option("--json", "the same as --output json, with every name")
    .addHelpText("after", details)
    .action(async (before: string, after: string, options: PlanArguments) => {
      const { settings, descriptors = [], group, full = false, output } = options;
      const json = options.json === true || output === "json";
      // Loaded only now: other commands start faster without the messages.
      const { runPlan } = await import("./run-plan.js");
      exit(await runPlan({ old: before, new: after, settings, descriptors, group, full, json }, terminal));
    });
}
