import { printable } from "@xdskit/api";
import { describeFinding } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { changesText, changesView } from "./changes-text.js";
import type { ComparedFolders } from "./compare-folders.js";
import { colouredPlan } from "./plan-colours.js";
import { plansText } from "./plans-text.js";
import { plansView } from "./plans-view.js";

/** How a comparison is printed. */
export interface ComparisonOutput {
  /** Every name, however many there are. */
  readonly full: boolean;
  readonly json: boolean;
}

/** Prints what differs, resource by resource, and then the stages; warnings go to standard error. */
export function printComparison(compared: ComparedFolders, { full, json }: ComparisonOutput, terminal: Terminal): void {
  const { changes, groups, warnings } = compared;
  for (const finding of warnings) tell(terminal, `${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
  if (json) {
    terminal.out(jsonText({ changes: changesView(changes), ...plansView(groups) }));
    return;
  }
  const paint = paintOf(terminal, "out");
  const names = full ? Number.POSITIVE_INFINITY : undefined;
  const stages = colouredPlan(plansText(groups, { name: printable, names }), paint);
  if (changes.length > 0) terminal.out(`${changesText(changes, paint)}\n`);
  tell(terminal, stages);
}
