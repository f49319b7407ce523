import { type Finding, parseEnvoyVersion, XdskitError } from "@xdskit/api";
import type { SkippedCounts } from "@xdskit/server";
import { adoptedText } from "../output/adopted.js";
import type { Paint } from "../output/colours.js";
import { counted, countedAll, countsOfResources } from "../output/counts.js";
import { describeFinding, reportFailure } from "../output/failure.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { checkDirectory } from "./check-directory.js";
import type { CheckedFolder } from "./check-folder.js";

/** The options of `validate`. */
export interface ValidateOptions {
  readonly directory: string;
  readonly settings?: string;
  readonly descriptors: readonly string[];
  /** Versions of Envoy that must understand everything in the folder. */
  readonly envoyVersions: readonly string[];
  /** Warnings count as errors. */
  readonly strict: boolean;
  readonly json: boolean;
}

/**
 * Checks a folder and prints the findings. Resolves to the exit status: 0 if it can be served, 1 if not, 2 for wrong
 * usage.
 */
export async function runValidate(options: ValidateOptions, terminal: Terminal): Promise<number> {
  let checked: CheckedFolder;
  try {
    checked = await checkDirectory({
      ...options,
      envoyVersions: options.envoyVersions.flatMap((text) => parseEnvoyVersion(text) ?? []),
    });
  } catch (error) {
    // An error in a settings file is a finding like one in any other file.
    if (!(error instanceof XdskitError && inSettings(error))) {
      reportFailure(terminal, "validate", error);
      return exitStatus.usage;
    }
    checked = { ...nothingChecked, findings: error.findings };
  }
  const findings = checked.findings.map((finding) => (options.strict ? asError(finding) : finding));
  const valid = findings.every(({ severity }) => severity !== "error");
  terminal.out(
    options.json
      ? jsonReport(checked, findings, valid)
      : textReport(checked, findings, options.directory, paintOf(terminal, "out")),
  );
  return valid ? exitStatus.ok : exitStatus.failed;
}

const nothingChecked: Omit<CheckedFolder, "findings"> = {
  files: 0,
  groups: [],
  layers: new Map(),
  whereIs: () => undefined,
  skipped: undefined,
  adopted: [],
};

function inSettings({ code, findings: [first] }: XdskitError): boolean {
  return code === "XDSKIT_SETTINGS_INVALID" || (code === "XDSKIT_SYNTAX" && first?.line !== undefined);
}

function asError(finding: Finding): Finding {
  return { ...finding, severity: "error" };
}

function textReport(
  { files, groups, adopted, skipped }: CheckedFolder,
  findings: readonly Finding[],
  directory: string,
  paint: Paint,
): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  const skips = skipped !== undefined && skipped.lastGood + skipped.absent > 0;
  const verdict = errors > 0 ? paint("error", "not valid") : paint("good", "valid");
  const counts = groups.map(({ group, resources }) => `  group ${group}: ${countedAll(countsOfResources(resources))}`);
  const lines = [
    ...adopted.map(adoptedText),
    ...findings.map((finding) => describeFinding(finding, paint)),
    `${directory} is ${verdict}: ${counted(files, "file")}, ${counted(errors, "error")}, ${counted(warnings, "warning")}`,
    ...(skips ? [skippedLine(skipped)] : []),
    ...(errors > 0 && !skips ? [] : counts),
  ];
  return `${lines.join("\n")}\n`;
}

function skippedLine({ lastGood, absent }: SkippedCounts): string {
  return `on_invalid: skip: a server that starts now skips ${counted(lastGood + absent, "resource")}; one that runs keeps the last good content`;
}

function jsonReport(
  { files, groups, adopted, skipped }: CheckedFolder,
  findings: readonly Finding[],
  valid: boolean,
): string {
  const counts = groups.map(({ group, resources }) => ({
    name: group,
    resources: Object.fromEntries(countsOfResources(resources)),
  }));
  return `${JSON.stringify({ valid, files, groups: counts, adopted, skipped, findings }, undefined, 2)}\n`;
}
