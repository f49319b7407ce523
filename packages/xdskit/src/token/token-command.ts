import { hashOfToken, newToken, tokenName } from "@xdskit/admin/tokens";
import { Argument, Command, InvalidArgumentError } from "commander";
import type { Terminal } from "../output/terminal.js";

const details = `
Standard output gets the token, and nothing else: it is shown this once. Standard error gets the lines for the settings,
which keep only its hash. The commands send it with --token-file FILE or XDSKIT_TOKEN_FILE. Docs: docs/security.md

Example:
  $ (umask 077; xdskit token create ci > ci.token)
`;

/** `xdskit token`: makes tokens for the admin listener. */
export function tokenCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("token")
    .usage("<action> <name>")
    .description("Makes a token with which a program proves who it is at the admin listener.")
    .addArgument(new Argument("<action>", "what to do").choices(["create"]))
    .argument("<name>", "the name of the token in the settings", readName)
    .addHelpText("after", details)
    .action((_action: string, name: string) => {
      const token = newToken();
      terminal.out(`${token}\n`);
      terminal.err(settingsFor(name, hashOfToken(token)));
      exit(0);
    });
}

function settingsFor(name: string, hash: string): string {
  return `# xdskit.yaml: the hash of the token, and what it may do
tokens:
  ${name}: ${hash}
roles:
  - { when: { token: ${name} }, may: [read] }
`;
}

function readName(text: string): string {
  if (tokenName.test(text)) return text;
  throw new InvalidArgumentError("Expected a word of letters, digits, dots, - and _.");
}
