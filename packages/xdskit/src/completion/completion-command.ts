import { Argument, Command } from "commander";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import type { Define, ListedCommand } from "./command-words.js";

const details = `
The script has the commands, options and words of this version: print it again after an upgrade. Docs: docs/editing.md

Examples:
  $ source <(xdskit completion bash)                                      in ~/.bashrc
  $ source <(xdskit completion zsh)                                       in ~/.zshrc, after compinit
  $ xdskit completion fish > ~/.config/fish/completions/xdskit.fish
`;

/** `xdskit completion`: prints a shell's script, which knows these commands. */
export const completionCommand =
  (commands: readonly ListedCommand[], define: Define) =>
  (terminal: Terminal, exit: (status: number) => void): Command =>
    new Command("completion")
      .description("Prints a script that completes xdskit's commands, options and their values in a shell.")
      .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
      .usage("<shell>")
      .addHelpText("after", details)
      .action(async (shell: string) => {
        const [{ commandWords }, { shells }] = await Promise.all([import("./command-words.js"), import("./shells.js")]);
        terminal.out(shells[shell]?.(await commandWords(commands, define)) ?? "");
        exit(exitStatus.ok);
      });
