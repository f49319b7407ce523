import { type Finding, XdskitError } from "@xdskit/api";
import { exitStatus } from "../exit-status.js";
import { type Paint, plain } from "../output/colours.js";
import { describeFinding, reportFailure } from "../output/failure.js";
import { printable } from "../output/printable.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { checkDirectory, type Directory } from "../validate/check-directory.js";
import type { CheckedFolder } from "../validate/check-folder.js";
import { type GroupPlan, planGroups } from "./group-plans.js";
import { plansText } from "./plans-text.js";
import { plansView } from "./plans-view.js";

/** What `plan` was asked for. */
export interface PlanOptions {
  /** The folders before and after the change. */
  readonly old: string;
  readonly new: string;
  /** Of both folders; otherwise each has its own. */
  readonly settings: string | undefined;
  readonly descriptors: readonly string[];
  /** Only this group. */
  readonly group: string | undefined;
  /** Every name, however many there are. */
  readonly full: boolean;
  readonly json: boolean;
}

/** Prints how clients are brought from one folder to another; resolves to the exit status: 0, or 2 where a folder is not valid or the usage is wrong. */
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

/** Stages stand out, and in them what comes and goes. */
function coloured(text: string, paint: Paint): string {
  if (paint === plain) return text;
  const lines = text.split("\n").map((line) => {
    if (/^\d+\. /.test(line)) return paint("strong", line);
    if (/^ +\+ /.test(line)) return paint("added", line);
    return /^ +- /.test(line) ? paint("removed", line) : line;
  });
  return lines.join("\n");
}

/** A folder with nothing but warnings. */
async function valid(directory: Directory): Promise<CheckedFolder> {
  const checked = await checkDirectory(directory);
  const [first, ...more] = checked.findings.filter(({ severity }) => severity === "error");
  if (first !== undefined) throw new XdskitError([first, ...more]);
  return checked;
}
