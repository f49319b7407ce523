import { Command } from "commander";
import type { Terminal } from "../output/terminal.js";

const details = `
Editors that read JSON Schema then complete and check names, values and types of extensions, and show Envoy's
documentation of each field. It is a help while you write: only xdskit validate knows all rules. Docs: docs/editing.md

Exit status: 0, or 2 if there is no such type.

Examples:
  $ xdskit schema > resources.schema.json          any file of resources
  $ xdskit schema settings > xdskit.schema.json    xdskit.yaml
  $ xdskit schema cluster                          one cluster
  $ head -1 clusters.yaml                          how an editor finds it
  # yaml-language-server: $schema=resources.schema.json
`;

/** `xdskit schema`: prints a JSON Schema. */
export function schemaCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("schema")
    .description("Prints the JSON Schema (draft-07) of resource files, or of the settings, for editors.")
    .argument("[type]", "one type, such as cluster; settings or relay-settings (default: any file of resources)")
    .usage("[type]")
    .addHelpText("after", details)
    .action(async (type: string | undefined) => {
      const { runSchema } = await import("./run-schema.js");
      exit(runSchema(type, terminal));
    });
}
