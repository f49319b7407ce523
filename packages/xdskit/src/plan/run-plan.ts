import { type Finding, XdskitError } from "@xdskit/api";
import { type Paint, plain } from "../output/colours.js";
import { describeFinding, reportFailure } from "../output/failure.js";
import { printable } from "../output/printable.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { checkDirectory, type Directory } from "../validate/check-directory.js";
import type { CheckedFolder } from "../validate/check-folder.js";
import { type GroupPlan, planGroups } from "./group-plans.js";
import { plansText } from "./plans-text.js";
import { plansView } from "./plans-view.js";

/** The options of `plan`. */
export interface PlanOptions {
  /** The folders before and after the change. */
  readonly old: string;
  readonly new: string;
  /** For both folders; by default each has its own. */
  readonly settings: string | undefined;
  readonly descriptors: readonly string[];
  /** Only this group. */
  readonly group: string | undefined;
  /** Every name, however many there are. */
  readonly full: boolean;
  readonly json: boolean;
}

/**
 * Prints how clients get from one folder to another. Resolves to the exit status: 0, or 2 if a folder is not valid or
 * the usage is wrong.
 */
export async function runPlan(options: PlanOptions, terminal: Terminal): Promise<number> {
  const { old: before, new: after, settings, descriptors, group } = options;
  let groups: readonly GroupPlan[];
  let findings: readonly Finding[];
  try {
    const [from, to] = [
      await valid({ directory: before, settings, descriptors }),
      await valid({ directory: after, settings, descriptors }),
    ];
    ({ findings } = to);
    groups = planGroups(from.groups, to.groups);
  } catch (error) {
    reportFailure(terminal, "plan", error);
    return exitStatus.usage;
  }
  const asked = groups.filter(({ name }) => group === undefined || name === group);
  if (asked.length === 0) {
    const names = groups.map(({ name }) => name).join(", ");
    reportFailure(terminal, "plan", `there is no group "${group}", only ${names}`);
    return exitStatus.usage;
  }
  for (const finding of findings) terminal.err(`${describeFinding(finding, paintOf(terminal, "err"))}\n`);
  terminal.out(
    options.json
      ? `${JSON.stringify(plansView(asked), undefined, 2)}\n`
      : coloured(
          plansText(asked, { name: printable, names: options.full ? Number.POSITIVE_INFINITY : undefined }),
          paintOf(terminal, "out"),
        ),
  );
  return exitStatus.ok;
}

/** Highlights stages, and in them additions and removals. */
function coloured(text: string, paint: Paint): string {
  if (paint === plain) return text;
  const lines = text.split("\n").map((line) => {
    if (/^\d+\. /.test(line)) return paint("strong", line);
    if (/^ +\+ /.test(line)) return paint("added", line);
    return /^ +- /.test(line) ? paint("removed", line) : line;
  });
  return lines.join("\n");
}

/** A folder that has only warnings. */
async function valid(directory: Directory): Promise<CheckedFolder> {
  const checked = await checkDirectory(directory);
  const [first, ...more] = checked.findings.filter(({ severity }) => severity === "error");
  if (first !== undefined) throw new XdskitError([first, ...more]);
  return checked;
}
