import { Command } from "commander";
import type { Terminal } from "../output/terminal.js";
import { collect, collectEnvoyVersion } from "./arguments.js";

interface Options {
  readonly settings?: string;
  readonly descriptors?: readonly string[];
  readonly envoyVersion?: readonly string[];
  readonly strict?: boolean;
  readonly json?: boolean;
}

const details = `
Prints every finding on a line of its own: file:line:column, resource, field, what is wrong, the rule, and the code,
which docs/errors.md explains. A resource that names another one which is not there is a warning.
A file that is an Envoy's bootstrap, a config dump or what istioctl and egctl print (docs/adopt.md) has a line that says
what is taken of it.

Exit status: 0 when the folder can be served, 1 when it cannot, 2 when the usage is wrong or DIR is not there.

Examples:
  $ xdskit validate ./config                     before a change is deployed
  $ xdskit validate ./config --strict            in CI: warnings fail too
  $ xdskit validate ./config --envoy-version 1.36   what an Envoy 1.36 ignores or rejects
  $ xdskit validate ./config --json | jq -r '.findings[].message'
`;

/** `xdskit validate`: reads and checks a folder without serving it. */
export function validateCommand(terminal: Terminal, exit: (status: number) => void): Command {
  return new Command("validate")
    .description("Reads and checks the resources of a folder as serve does, without serving them.")
    .argument("[dir]", "the folder", "./config")
    .option("--settings <file>", "groups, limits … (default: DIR/xdskit.yaml if it is there)")
    .option("--descriptors <file>", "a descriptor set with messages of your own; may be repeated", collect)
    .option("--envoy-version <version>", "also say what this Envoy does not know; may be repeated", collectEnvoyVersion)
    .option("--strict", "warnings are errors")
    .option("--json", "print the result as JSON")
    .addHelpText("after", details)
    .action(
      async (
        directory: string,
        { settings, descriptors = [], envoyVersion = [], strict = false, json = false }: Options,
      ) => {
        // Loaded only now: other commands start faster without the messages.
        const { runValidate } = await import("../validate/run-validate.js");
        exit(
          await runValidate({ directory, settings, descriptors, envoyVersions: envoyVersion, strict, json }, terminal),
        );
      },
    );
}
