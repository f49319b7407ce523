import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { changesText, changesView } from "./changes-text.js";
import type { ShownChange } from "./shown-change.js";
import { groupStagesText, type PlannedStages } from "./stages-text.js";

/** What a server says that differs, and the stages in which its clients get it. */
export interface ServerComparison {
  readonly changes: readonly ShownChange[];
  readonly stages: readonly PlannedStages[];
}

/** Prints it as `plan` and `diff` print two folders. */
export function printServerComparison(
  { changes, stages }: ServerComparison,
  output: "text" | "json",
  terminal: Terminal,
): void {
  if (output === "json") {
    const groups = stages.map(({ group, ...planned }) => ({ name: group, state: "planned", ...planned }));
    terminal.out(jsonText({ changes: changesView(changes), groups }));
    return;
  }
  const paint = paintOf(terminal, "out");
  if (changes.length === 0) terminal.out("nothing differs\n");
  else {
    terminal.out(changesText(changes, paint));
    if (stages.length > 0) tell(terminal, `\n${groupStagesText(stages, paint)}`);
  }
}
