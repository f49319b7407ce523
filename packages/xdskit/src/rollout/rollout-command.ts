import { Argument, Command } from "commander";
import { type ApiServerOptions, addServerOptions, outputOption } from "../arguments/api-server-options.js";
import type { Terminal } from "../output/terminal.js";
import type { RolloutVerb } from "./run-rollout.js";

const details = `
  status    the state of each rollout, who has the change, who rejected it and why
  promote   all nodes get the change now
  halt      it goes no further by itself
  resume    a halted rollout goes on
  undo      all nodes get the old content, until the resources change again
Without GROUP, status shows all groups, and the other actions are for the one rollout that is under way.
Docs: docs/rollouts.md

Exit status: 0 when it is done, 1 if there is no such rollout or no server answers, 2 if the usage is wrong.

Examples:
  $ xdskit rollout status
  $ xdskit rollout undo edge
  $ xdskit rollout status --output json | jq -r '.rollouts[] | select(.state == "halted").reason'
`;

/** `xdskit rollout`: shows the rollouts of a running server, and controls them. */
export function rolloutCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("rollout"))
    .description("Shows the changes that a running server brings to its nodes step by step, and controls them.")
    .addArgument(new Argument("<action>", "what to do").choices(["status", "promote", "halt", "resume", "undo"]))
    .argument("[group]", "the group of nodes")
    .addOption(outputOption())
    .addHelpText("after", details)
    .action(async (action: RolloutVerb, group: string | undefined, { server, output }: ApiServerOptions) => {
      const { runRollout } = await import("./run-rollout.js");
      exit(await runRollout({ action, group, server, output }, terminal));
    });
}
