import { errorsIn, type Finding, parseEnvoyVersion, XdskitError } from "@xdskit/api";
import type { SkippedCounts } from "@xdskit/server";
import { checkDirectory } from "../checking/check-directory.js";
import type { CheckedFolder } from "../checking/check-folder.js";
import type { Paint } from "../output/colours.js";
import { counted, countedAll, countsOfResources } from "../output/counts.js";
import { describeFinding, reportFailure } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { adoptedText } from "../output/messages/adopted.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import type { EnvoysAnswer } from "./envoy/ask-envoy.js";

export interface ValidateCommandOptions {
  readonly directory: string;
  readonly settings?: string;
  readonly descriptors: readonly string[];
  /** Versions of Envoy that must understand everything in the folder. */
  readonly envoyVersions: readonly string[];
  /** The path of an Envoy that is asked too. */
  readonly envoy?: string | undefined;
  /** Warnings count as errors. */
  readonly strict: boolean;
  readonly json: boolean;
}

/**
 * Checks a folder and prints the findings. Resolves to the exit status: 0 if it can be served, 1 if not, 2 for wrong
 * usage.
 */
export async function runValidate(options: ValidateCommandOptions, terminal: Terminal): Promise<number> {
  let checked: CheckedFolder;
  let answer: EnvoysAnswer | undefined;
  try {
    checked = await checkDirectory({
      ...options,
      envoyVersions: options.envoyVersions.flatMap((text) => parseEnvoyVersion(text) ?? []),
    });
    answer = options.envoy === undefined ? undefined : await askedEnvoy(options.envoy, checked);
  } catch (error) {
    // An error in a settings file is a finding like one in any other file.
    if (!(error instanceof XdskitError && inSettings(error))) {
      reportFailure(terminal, "validate", error);
      return exitStatus.usage;
    }
    checked = { ...nothingChecked, findings: error.findings };
  }
  const all = [...checked.findings, ...(answer?.findings ?? [])];
  const findings = all.map((finding) => (options.strict ? asError(finding) : finding));
  const valid = findings.every(({ severity }) => severity !== "error");
  terminal.out(
    options.json
      ? jsonReport(checked, findings, valid, answer)
      : textReport(checked, findings, options.directory, paintOf(terminal, "out"), answer),
  );
  return valid ? exitStatus.ok : exitStatus.failed;
}

const nothingChecked: Omit<CheckedFolder, "findings"> = {
  files: 0,
  groups: [],
  layers: new Map(),
  whereIs: () => undefined,
  skipped: undefined,
  envoyOnly: { resources: 0, kinds: [] },
  adopted: [],
};

/**
 * What the Envoy says. It is not asked about a folder with errors: what names a resource with an error would be wrong
 * as well.
 */
async function askedEnvoy(path: string, { findings, groups, whereIs }: CheckedFolder): Promise<EnvoysAnswer> {
  const { askEnvoy } = await import("./envoy/ask-envoy.js");
  const isWell = findings.every(({ severity }) => severity !== "error");
  return askEnvoy(path, isWell ? groups : [], whereIs);
}

function inSettings({ code, findings: [first] }: XdskitError): boolean {
  return code === "XDSKIT_SETTINGS_INVALID" || (code === "XDSKIT_SYNTAX" && first?.line !== undefined);
}

function asError(finding: Finding): Finding {
  return { ...finding, severity: "error" };
}

function textReport(
  { files, groups, adopted, skipped, envoyOnly }: CheckedFolder,
  findings: readonly Finding[],
  directory: string,
  paint: Paint,
  answer: EnvoysAnswer | undefined,
): string {
  const errors = errorsIn(findings).length;
  const warnings = findings.length - errors;
  const skips = skipped !== undefined && skipped.lastGood + skipped.absent > 0;
  const verdict = errors > 0 ? paint("error", "not valid") : paint("good", "valid");
  const counts = groups.map(({ group, resources }) => `  group ${group}: ${countedAll(countsOfResources(resources))}`);
  const lines = [
    ...adopted.map(adoptedText),
    ...findings.map((finding) => describeFinding(finding, paint)),
    ...(answer === undefined ? [] : [envoysLine(answer, errors)]),
    `${directory} is ${verdict}: ${counted(files, "file")}, ${counted(errors, "error")}, ${counted(warnings, "warning")}`,
    ...(answer === undefined && envoyOnly.resources > 0 ? [envoyOnlyLine(envoyOnly)] : []),
    ...(skips ? [skippedLine(skipped)] : []),
    ...(errors > 0 && !skips ? [] : counts),
  ];
  return `${lines.join("\n")}\n`;
}

function envoysLine({ version, asked, notAsked }: EnvoysAnswer, errors: number): string {
  if (asked === 0 && errors > 0) return `Envoy ${version} is asked once there are no errors`;
  const rest = notAsked.size === 0 ? "" : `; not about ${countedAll(notAsked)}`;
  return `Envoy ${version} was asked about ${counted(asked, "resource")}${rest}`;
}

function envoyOnlyLine({ resources, kinds }: CheckedFolder["envoyOnly"]): string {
  return `only an Envoy can judge the ${kinds.join(", ")} in ${counted(resources, "resource")}: ask one with --envoy PATH`;
}

function skippedLine({ lastGood, absent }: SkippedCounts): string {
  return `on_invalid: skip: a server that starts now skips ${counted(lastGood + absent, "resource")}; one that runs keeps the last good content`;
}

function jsonReport(
  { files, groups, adopted, skipped }: CheckedFolder,
  findings: readonly Finding[],
  valid: boolean,
  answer: EnvoysAnswer | undefined,
): string {
  const counts = groups.map(({ group, resources }) => ({
    name: group,
    resources: Object.fromEntries(countsOfResources(resources)),
  }));
  const envoy = answer && {
    version: answer.version,
    asked: answer.asked,
    notAsked: Object.fromEntries(answer.notAsked),
  };
  return jsonText({ valid, files, groups: counts, adopted, skipped, envoy, findings });
}
