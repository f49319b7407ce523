import { Command } from "commander";
import type { Terminal } from "../output/terminal.js";

const details = `
The folder has a listener, routes, a cluster, its endpoints and the settings, with comments, and JSON Schemas for your
editor in DIR/.schemas. It works at once: xdskit serve DIR. Nothing that is there already is written over.
Docs: docs/editing.md

Exit status: 0, 1 if the folder cannot be written or has one of the files, 2 if the usage is wrong.

Examples:
  $ xdskit init                     writes ./config, the folder that xdskit serve takes
  $ xdskit init /etc/xdskit/config
`;

/** `xdskit init`: writes a small configuration. */
export function initCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("init")
    .description("Writes a small configuration with comments, to begin with.")
    .argument("[dir]", "the folder", "config")
    .usage("[dir]")
    .addHelpText("after", details)
    .action(async (directory: string) => {
      const { runInit } = await import("./run-init.js");
      exit(await runInit(directory, terminal));
    });
}
