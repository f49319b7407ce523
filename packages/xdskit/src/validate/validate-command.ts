import { Command } from "commander";
import { collect, collectEnvoyVersion } from "../arguments/arguments.js";
import type { Terminal } from "../output/terminal.js";
import type { ValidateCommandOptions } from "./run-validate.js";

type ValidateArguments = Partial<Omit<ValidateCommandOptions, "directory" | "envoyVersions">> & {
  readonly envoyVersion?: ValidateCommandOptions["envoyVersions"];
};

const details = `
Prints each finding on its own line: file:line:column, resource, field, mistake, rule, and the code,
which docs/errors.md explains. A reference to a resource that does not exist is a warning.
For a bootstrap, a config dump, or output of istioctl or egctl (docs/adopt.md) a line says which resources were taken.

Exit status: 0 if the folder can be served, 1 if not, 2 if the usage is wrong or DIR does not exist.

Examples:
  $ xdskit validate ./config                     before a change is deployed
  $ xdskit validate ./config --strict            in CI: warnings fail too
  $ xdskit validate ./config --envoy-version 1.36   also report what Envoy 1.36 ignores or rejects
  $ xdskit validate ./config --envoy /usr/local/bin/envoy   also ask that Envoy
  $ xdskit validate ./config --json | jq -r '.findings[].message'
`;

/** `xdskit validate`: reads and checks a folder without serving it. */
export function validateCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("validate")
    .description("Checks the resources of a folder as serve does, without serving them.")
    .argument("[dir]", "the folder", "./config")
    .option("--settings <file>", "groups, limits and so on (default: DIR/xdskit.yaml if it exists)")
    .option("--descriptors <file>", "a descriptor set with your own messages; may be repeated", collect)
    .option(
      "--envoy-version <version>",
      "also report parts that this Envoy does not know; may be repeated",
      collectEnvoyVersion,
    )
    .option("--envoy <path>", "also ask this Envoy (it runs as envoy --mode validate)")
    .option("--strict", "warnings are errors")
    .option("--json", "print the result as JSON")
    .addHelpText("after", details)
    .action(
      async (
        directory: string,
        { settings, descriptors = [], envoyVersion = [], envoy, strict = false, json = false }: ValidateArguments,
      ) => {
        // Loaded only now: other commands start faster without the messages.
        const { runValidate } = await import("./run-validate.js");
        const options = { directory, settings, descriptors, envoyVersions: envoyVersion, envoy, strict, json };
        exit(await runValidate(options, terminal));
      },
    );
}
