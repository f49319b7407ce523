import type { Command } from "commander";
import { fitHelp, helpWidth } from "../output/help-text.js";

/** What a page of the manual says besides what the command's help has. */
export interface ManPageOptions {
  /** `xdskit`, `xdskit serve`. */
  readonly title: string;
  readonly summary: string;
  readonly version: string;
  /** Titles of other pages. */
  readonly seeAlso: readonly string[];
}

/** What readers of pages indent text by. */
const indent = 7;
const textWidth = helpWidth - indent;

/** The name of a page, and of its file without the section: `xdskit-serve`. */
export const pageName = (title: string): string => title.replaceAll(" ", "-");

/**
 * A page of the manual (section 1, in the macros of man), from the definition that `--help` shows. What follows the
 * options in the help, such as examples, follows here, too.
 */
export function manPage(command: Command, { title, summary, version, seeAlso }: ManPageOptions): string {
  const help = command.createHelp();
  const terms = (rows: readonly (readonly [term: string, description: string])[]) =>
    rows.flatMap(([term, description]) => [".TP", `.B ${escaped(term)}`, ...prose(description)]);
  const section = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`.SH ${name.toUpperCase()}`, ...lines];
  const options = help
    .visibleOptions(command)
    .map((one) => [help.optionTerm(one), help.optionDescription(one)] as const);
  const args = help
    .visibleArguments(command)
    .map((one) => [help.argumentTerm(one), help.argumentDescription(one)] as const);
  const commands = help
    .visibleCommands(command)
    .map((one) => [help.subcommandTerm(one), help.subcommandDescription(one)] as const);
  const others = seeAlso.map((one, at) => `.BR ${escaped(pageName(one))} (1)${at < seeAlso.length - 1 ? "," : ""}`);
  const lines = [
    `.TH ${escaped(pageName(title)).toUpperCase()} 1 "" "xdskit ${escaped(version)}" "xdskit"`,
    ...section("Name", [`${escaped(pageName(title))} \\- ${escaped(summary)}`]),
    ...section("Synopsis", [`.B ${escaped(title)}`, escaped(command.usage())]),
    ...section("Description", paragraphs(command.description())),
    ...section("Arguments", terms(args)),
    ...section("Commands", terms(commands)),
    ...section("Options", terms(options)),
    ...afterOptions(fitHelp(textAfter(command), textWidth)),
    ...section("See also", others),
  ];
  return `${lines.join("\n")}\n`;
}

/** What the help has after its options. */
function textAfter(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text.slice(command.helpInformation().length);
}

/** `Examples:` begins a section; indented lines stay as they are, and all others are prose. */
function afterOptions(text: string): readonly string[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== "")
    .flatMap((block) => {
      const lines = block.split("\n").filter((line) => line.trim() !== "");
      const [, heading] = /^(\S[^:]*):$/.exec(lines[0] ?? "") ?? [];
      const rest = heading === undefined ? lines : lines.slice(1);
      const head = heading === undefined ? [".PP"] : [`.SH ${escaped(heading.toUpperCase())}`];
      const isText = rest.some((line) => /^\s/.test(line));
      return [...head, ...(isText ? [".nf", ...rest.map(escaped), ".fi"] : prose(rest.join(" ")))];
    });
}

function paragraphs(text: string): readonly string[] {
  return text.split(/\n{2,}/).flatMap((part, at) => [...(at === 0 ? [] : [".PP"]), ...prose(part)]);
}

function prose(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [escaped(line.trim())]));
}

/** Text that means nothing to troff: a hyphen stays one that can be copied, and a dot at the start is no request. */
function escaped(text: string): string {
  const plain = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/[^\p{ASCII}]/gu, (one) => `\\[u${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`);
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
