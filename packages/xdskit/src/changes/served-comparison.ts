import type { GroupStagesView } from "../api-client/api-types.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { changesText, changesView } from "./changes-text.js";
import type { ShownChange } from "./shown-change.js";
import { groupStagesText } from "./stages-text.js";

/** What a server says that differs, and the stages in which its clients get it. */
export interface ServedComparison {
  readonly changes: readonly ShownChange[];
  readonly stages: readonly GroupStagesView[];
}

/** Prints it as `plan` and `diff` print two folders. */
export function printServedComparison(
  { changes, stages }: ServedComparison,
  output: "text" | "json",
  terminal: Terminal,
): void {
  if (output === "json") {
    terminal.out(`${JSON.stringify({ changes: changesView(changes), groups: stages }, undefined, 2)}\n`);
    return;
  }
  const paint = paintOf(terminal, "out");
  if (changes.length === 0) terminal.out("nothing differs\n");
  else
    terminal.out(`${changesText(changes, paint)}${stages.length === 0 ? "" : `\n${groupStagesText(stages, paint)}`}`);
}
