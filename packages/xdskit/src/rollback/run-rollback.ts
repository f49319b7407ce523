import { postChange, revisionWithChanges } from "../api-client/all-pages.js";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { RevisionJson } from "../api-client/api-types.js";
import { findRevision } from "../api-client/find-revision.js";
import { withServer } from "../api-client/with-server.js";
import { type CommitOptions, reportChange } from "../api-writes/commit-change.js";
import { changesAtServer } from "../comparison/changes-at-server.js";
import { changesText } from "../comparison/changes-text.js";
import { revisionHead } from "../history/revision-text.js";
import { reportFailure } from "../output/failure.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { userName } from "../process/user-name.js";
import { type NewestChange, newestChange } from "./newest-change.js";
import { sayWhatComesBack } from "./what-comes-back.js";

export interface RollbackOptions extends CommitOptions {
  /** Undefined: what was before the newest revision. */
  readonly revision: string | undefined;
  readonly layer: string | undefined;
  /** Nobody is asked. */
  readonly yes?: boolean | undefined;
}

/** What to go back to. */
interface RollbackTarget {
  readonly layer: string;
  /** Undefined: what was before the head. */
  readonly to?: string;
  /** The head that was shown: the rollback must not undo a change that came since. */
  readonly head?: string;
}

/** Serves an older revision of a layer again, as a new one. Resolves to the exit status. */
export function runRollback(options: RollbackOptions, terminal: Terminal): Promise<number> {
  return withServer("rollback", options, terminal, async (client) => {
    const target = options.revision === undefined ? await takenBack(client, options, terminal) : undefined;
    if (typeof target === "number") return target;
    const { layer, to, head } = target ?? targetOf(await findRevision(client, options.revision ?? ""), options.layer);
    const body = { to, message: options.message, author: userName(), dryRun: options.dryRun };
    const answer = await postChange(client, "/api/v1/layers/{layer}/rollback", layer, body, head);
    const committed = { command: "rollback", layer, answer, warnings: answer.findings };
    const status = await reportChange(client, committed, options, terminal);
    if (!options.dryRun) await sayWhatComesBack(client, layer, terminal);
    return status;
  });
}

function targetOf({ id, layer }: RevisionJson, asked: string | undefined): RollbackTarget {
  if (asked === undefined || asked === layer) return { layer, to: id };
  throw new ApiError(`revision ${id} is one of layer "${layer}", not of "${asked}"`);
}

/** The newest change, if it may be taken back; a number is the exit status where it may not. */
async function takenBack(
  client: ApiClient,
  options: RollbackOptions,
  terminal: Terminal,
): Promise<RollbackTarget | number> {
  const { layer: named, dryRun = false, yes = false } = options;
  const ask = yes || dryRun ? undefined : terminal.ask;
  // Who may operate need not be one who may read.
  if (named !== undefined && ask === undefined) return { layer: named };
  const newest = await newestChange(client, named);
  const { layer, head, others } = newest;
  const target = { layer, head: head.id };
  // Its difference says as much.
  if (dryRun) return target;
  await show(client, newest, options, terminal);
  if (ask !== undefined) {
    if (await ask("Take it back? [y/N] ")) return target;
    terminal.err("nothing was done\n");
    return exitStatus.failed;
  }
  if (yes || others.length === 0) return target;
  const layers = others.map((name) => `--layer ${name}`).join(", ");
  const ways = `--yes takes this one back, ${layers} another one`;
  reportFailure(terminal, "rollback", `nothing was done, since more than one layer can go back: ${ways}`);
  return exitStatus.usage;
}

/** Standard output is for the answer in JSON. */
async function show(client: ApiClient, { head }: NewestChange, options: RollbackOptions, terminal: Terminal) {
  const stream = options.output === "json" ? "err" : "out";
  const paint = paintOf(terminal, stream);
  const { changes } = await revisionWithChanges(client, head.id);
  const text = changesText(changesAtServer(changes, undefined), paint) || "nothing differs\n";
  terminal[stream](`The newest change:\n${revisionHead(head, paint)}\n${text}\n`);
}
