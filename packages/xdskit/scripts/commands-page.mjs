// Writes docs/commands.md from the definitions of the commands: npm run docs -w xdskit
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { help as conformanceHelp } from "../../conformance/src/command/usage.ts";
import { commands, definedCommand } from "../src/commands.ts";

/** Where the page is. */
export const commandsPageFile = new URL("../../../docs/commands.md", import.meta.url);

const groups = [...new Set(commands.map(({ group }) => group))];

/** The page as it should be. */
export async function commandsPage() {
  const parts = [];
  for (const group of groups) {
    parts.push(`## ${group}\n`);
    for (const entry of commands.filter((one) => one.group === group)) {
      const command = await definedCommand(entry, { out() {}, err() {} }, () => {});
      new Command("xdskit").addCommand(command);
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 }).outputHelp();
      parts.push(`### xdskit ${entry.name}\n\n\`\`\`\n${help.trimEnd()}\n\`\`\`\n`);
    }
  }
  parts.push(`## Conformance\n\n### xds-conformance\n\n\`\`\`\n${conformanceHelp.trimEnd()}\n\`\`\`\n`);
  return `<!-- Made by \`npm run docs -w xdskit\` from the definitions of the commands: change them there. -->

# Every command

What \`xdskit COMMAND --help\` says. [serve](serve.md#environment) says how options come from the environment. In a shell,
\`xdskit completion\` [completes them](editing.md#in-a-shell).

${parts.join("\n")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(commandsPageFile, await commandsPage());
