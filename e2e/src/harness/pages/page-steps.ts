import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../basics/peers.js";

/** What a reader of a page does, one step after the other. */
export type PageStep =
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  /** In a terminal of its own: its last command runs on. */
  | { readonly kind: "start"; readonly commands: string; readonly line: number }
  /** `says`: what the last of the commands prints at last; `…` stands for what differs. */
  | { readonly kind: "run"; readonly commands: string; readonly says: readonly string[]; readonly line: number }
  /** A part of a program: its lines stand in a program that is tested elsewhere. */
  | { readonly kind: "excerpt"; readonly language: string; readonly text: string };

const runsOn = /^(?:\w+=\S+ )*(?:npx xdskit (?:serve|relay)\b|envoy |node (?:main|service)\.mjs)/;

/** The steps in the blocks of a page of `docs/`. */
export function pageSteps(name: string): readonly PageStep[] {
  const page = readFileSync(join(root, "docs", `${name}.md`), "utf8");
  const steps: PageStep[] = [];
  for (const { 1: language = "", 2: text = "", index } of page.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const line = page.slice(0, index).split("\n").length;
    steps.push(...stepOf(language, text, line, steps));
  }
  return steps;
}

function stepOf(language: string, text: string, line: number, before: PageStep[]): readonly PageStep[] {
  if (language === "sh") {
    const isStart = text.split("\n").some((each) => runsOn.test(each));
    return [isStart ? { kind: "start", commands: text, line } : { kind: "run", commands: text, says: [], line }];
  }
  if (language === "text") {
    const last = before.pop();
    if (last?.kind !== "run") throw new Error(`line ${line}: an output stands behind the command that prints it`);
    return [{ ...last, says: text.trimEnd().split("\n") }];
  }
  const [, path] = /^(?:#|\/\/) ([\w./-]+\.\w+)\n/.exec(text) ?? [];
  return [path === undefined ? { kind: "excerpt", language, text } : { kind: "file", path, text }];
}
