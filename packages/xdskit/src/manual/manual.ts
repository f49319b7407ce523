import type { Command } from "commander";
import { type ManPageOptions, manPage, pageName } from "./man-page.js";

/** A command that has a page. */
export interface PageOf {
  readonly name: string;
  readonly summary: string;
}

/** The program as it is called: without a name, the one with all commands. */
export type ProgramOf = (name: string | undefined) => Promise<Command>;

/** All pages of the manual, by their files: `xdskit.1`, `xdskit-serve.1` … */
export async function manual(
  commands: readonly PageOf[],
  programOf: ProgramOf,
  version: string,
): Promise<ReadonlyMap<string, string>> {
  const titles = commands.map(({ name }) => `xdskit ${name}`);
  const pages = new Map<string, string>();
  const add = (command: Command, options: Omit<ManPageOptions, "version">) =>
    pages.set(`${pageName(options.title)}.1`, manPage(command, { ...options, version }));
  const program = await programOf(undefined);
  const summary = "serve Envoy's configuration over xDS, and look at it";
  add(program, { title: "xdskit", summary, seeAlso: titles });
  for (const { name, summary } of commands) {
    const command = (await programOf(name)).commands.find((one) => one.name() === name);
    if (command !== undefined) add(command, { title: `xdskit ${name}`, summary, seeAlso: ["xdskit"] });
  }
  return pages;
}
