import { Command } from "commander";
import type { ApiServer } from "../api-client/api-server.js";
import { addServerOptions } from "../arguments/api-server-options.js";
import type { Terminal } from "../output/terminal.js";

const details = `
For health checks of containers, and probes that cannot open a Unix socket: needs no token.
Docs: docs/deploy.md

Exit status: 0 if the server is ready (it may say "degraded"), 1 if it is not, or does not answer, 2 if the usage is
wrong.

Examples:
  $ xdskit health
  $ xdskit health --live --server unix:/run/xdskit/admin.sock
`;

/** `xdskit health`: whether a server is ready. */
export function healthCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return addServerOptions(new Command("health"))
    .description("Asks a running server whether it is ready, and prints what it says.")
    .option("--live", "ask only whether its process runs")
    .addHelpText("after", details)
    .action(async (options: { readonly server: ApiServer; readonly live?: boolean }) => {
      const { runHealth } = await import("./run-health.js");
      exit(await runHealth(options, terminal));
    });
}
