import { type Finding, printable } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import type { ApiServer } from "../api-client/api-server.js";
import type { ChangeAnswer, RevisionJson } from "../api-client/api-types.js";
import { changeCounts, changeLines } from "../comparison/change-summary.js";
import { changesAtServer, forNodes, type KnownMessages } from "../comparison/changes-at-server.js";
import { changesText } from "../comparison/changes-text.js";
import { shortId } from "../comparison/short-id.js";
import { groupStagesText } from "../comparison/stages-text.js";
import { describeFinding, reportFailure } from "../output/failure.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { arrivalText } from "./arrival-text.js";
import { type WaitFor, waitForNodes } from "./wait-for-nodes.js";

/** The options of every command that changes a layer. */
export interface CommitOptions {
  readonly server: ApiServer;
  readonly output: "text" | "json";
  readonly message?: string | undefined;
  /** Undefined: it does not wait for nodes. */
  readonly wait?: WaitFor | undefined;
  /** Milliseconds to wait for nodes. */
  readonly timeout: number;
  readonly dryRun?: boolean | undefined;
}

/** Where a change went. */
export interface Committed {
  /** The command, for messages. */
  readonly command: string;
  readonly layer: string;
  readonly answer: ChangeAnswer;
  /** With places in files. */
  readonly warnings: readonly Finding[];
  readonly known?: KnownMessages | undefined;
}

/** Says what a change did, or would do, and waits for nodes if asked. Resolves to the exit status. */
export async function reportChange(
  client: ApiClient,
  committed: Committed,
  options: CommitOptions,
  terminal: Terminal,
): Promise<number> {
  const { status, document } = await outcomeOf(client, committed, options, terminal);
  if (options.output === "json") terminal.out(jsonText(document));
  return status;
}

/** What became of a change: the exit status, and what `--output json` prints. */
export interface CommitOutcome {
  readonly status: number;
  readonly document: object;
}

/** Waits for nodes if asked, and says in text what a change did, or would do. Prints no JSON. */
export async function outcomeOf(
  client: ApiClient,
  { command, layer, answer, warnings, known }: Committed,
  options: CommitOptions,
  terminal: Terminal,
): Promise<CommitOutcome> {
  const { output, dryRun = false, wait, timeout } = options;
  const changes = changesAtServer(answer.changed, undefined, known);
  for (const finding of warnings) tell(terminal, `${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
  const paint = paintOf(terminal, "out");
  if (output === "text") {
    const served = dryRun ? changesAtServer(forNodes(answer.changed), undefined, known) : [];
    if (dryRun) terminal.out(served.length === 0 ? "" : `${changesText(served, paint)}\n`);
    else tell(terminal, changeLines(changes, paint));
    if (dryRun && changes.length > 0) tell(terminal, groupStagesText(answer.stages, paint));
    tell(terminal, `${resultLine(changeCounts(changes), layer, dryRun, answer.revision)}\n`);
  }
  if (dryRun) return { status: changes.length === 0 ? exitStatus.ok : exitStatus.differs, document: answer };
  // If nothing changes, the head is somebody's change before, and what nodes say of that is no answer to this one.
  if (wait === undefined || answer.revision === null || changes.length === 0)
    return { status: exitStatus.ok, document: answer };
  const { result, arrival, problem } = await waitForNodes(client, answer.revision.id, wait, timeout);
  if (output === "text" && arrival !== undefined) tell(terminal, arrivalText({ result, arrival }, timeout, paint));
  if (problem !== undefined) {
    const unknown = "the change is made, but it is not known which nodes have it";
    reportFailure(terminal, command, `${unknown}: ${problem.message}`);
  }
  return {
    status: result === "acknowledged" ? exitStatus.ok : exitStatus.failed,
    document: { ...answer, result, arrival: arrival ?? null },
  };
}

function resultLine(counts: string, layer: string, isDry: boolean, revision: RevisionJson | null): string {
  const where = `layer ${printable(layer)}`;
  if (isDry) return `dry run, ${where}: ${counts}${counts === "nothing changes" ? "" : "; nothing was done"}`;
  if (counts === "nothing changes" || revision === null) return `${where}: nothing changes`;
  return `revision ${shortId(revision.id)} of ${where}: ${counts}`;
}
