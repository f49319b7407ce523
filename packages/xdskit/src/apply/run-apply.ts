import { errorsIn, type Finding } from "@xdskit/api";
import { ApiError } from "../api-client/api-error.js";
import type { ChangeAnswer } from "../api-client/api-types.js";
import { withServer } from "../api-client/with-server.js";
import { type CommitOptions, reportChange } from "../api-writes/commit-change.js";
import { findingsInFiles } from "../api-writes/findings-in-files.js";
import { type Input, readInput } from "../api-writes/input.js";
import { sendChange } from "../api-writes/send-change.js";
import { createSentForm } from "../api-writes/sent-resource.js";
import { counted } from "../output/counts.js";
import { describeFinding, inputFailure, reportFailure } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";

export interface ApplyCommandOptions extends CommitOptions {
  /** Files, folders, or `-`. */
  readonly files: readonly string[];
  readonly layer: string;
  readonly descriptors: readonly string[];
  /** The layer holds exactly what is applied. */
  readonly prune: boolean;
}

/**
 * Sends files to a layer of a running server as one change. Resolves to the exit status: 0 if it is done, 1 if it
 * failed, was rejected or did not arrive in time, 2 if a file is not there, 3 if a dry run finds differences.
 */
export async function runApply(options: ApplyCommandOptions, terminal: Terminal): Promise<number> {
  let input: Input;
  try {
    input = await readInput(options.files, options.descriptors);
  } catch (error) {
    return inputFailure(terminal, "apply", error);
  }
  if (refuses(input, options, terminal)) return exitStatus.failed;
  const { layer, prune, message, dryRun } = options;
  return await withServer("apply", options, terminal, async (client) => {
    const upsert = input.resources.map(createSentForm(input.registry));
    const change = { upsert, replace: prune, message, dryRun };
    const answer = await sendChange(client, layer, change).catch((error: unknown) => {
      throw error instanceof ApiError ? inFiles(error, input) : error;
    });
    return await reportChange(client, committed(answer, input, layer), options, terminal);
  });
}

function committed(answer: ChangeAnswer, input: Input, layer: string) {
  const reported = new Set(input.findings.map(findingKey));
  const warnings = findingsInFiles(answer.findings, input).filter((finding) => !reported.has(findingKey(finding)));
  return { command: "apply", layer, answer, warnings, known: input };
}

/** The same finding, wherever it was made. */
function findingKey({ code, resource, message }: Finding): string {
  return `${code} ${resource} ${message}`;
}

/** Says what is wrong in the files before anything is sent. */
function refuses({ findings, resources }: Input, { files, prune }: ApplyCommandOptions, terminal: Terminal): boolean {
  const errors = errorsIn(findings);
  const say = (finding: Finding) => tell(terminal, `${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
  for (const finding of findings) say(finding);
  if (errors.length > 0) {
    reportFailure(terminal, "apply", `nothing was sent: ${counted(errors.length, "error")}`);
    return true;
  }
  if (resources.length > 0) return false;
  const what = `${files.join(", ")}: there is no resource in it`;
  reportFailure(terminal, "apply", prune ? `${what}, and --prune would remove all of the layer` : what);
  return true;
}

/** The server's findings, where they are in the files. */
function inFiles(error: ApiError, input: Input): ApiError {
  const { message, status, code } = error;
  const findings = findingsInFiles(error.findings, input);
  return new ApiError(message, { status, code, findings });
}
