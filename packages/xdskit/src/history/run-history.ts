import { revisionWithChanges } from "../api-client/all-pages.js";
import type { ApiClient } from "../api-client/api-client.js";
import type { ApiServer } from "../api-client/api-server.js";
import type { RevisionJson } from "../api-client/api-types.js";
import { findRevision, revisionsPage } from "../api-client/find-revision.js";
import { pageSize } from "../api-client/list-resources.js";
import { withServer } from "../api-client/with-server.js";
import { changesAtServer } from "../comparison/changes-at-server.js";
import { changesText } from "../comparison/changes-text.js";
import { jsonText } from "../output/json-text.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { revisionHead, revisionLines } from "./revision-text.js";

export interface HistoryOptions {
  readonly server: ApiServer;
  readonly output: "text" | "json";
  /** Undefined: of all layers. */
  readonly layer: string | undefined;
  readonly limit: number;
}

/** Prints the newest revisions. Resolves to the exit status. */
export function runHistory(options: HistoryOptions, terminal: Terminal): Promise<number> {
  const { layer, limit, output } = options;
  return withServer("history", options, terminal, async (client) => {
    const { revisions, isMore } = await newest(client, layer, limit);
    if (output === "json") terminal.out(jsonText({ revisions }));
    else if (revisions.length === 0) terminal.out("no revision yet\n");
    else tell(terminal, revisionLines(revisions, paintOf(terminal, "out")));
    if (isMore) tell(terminal, `the newest ${limit} are shown: --limit asks for more\n`, "err");
    return exitStatus.ok;
  });
}

async function newest(client: ApiClient, layer: string | undefined, limit: number) {
  const revisions: RevisionJson[] = [];
  let after: string | undefined;
  do {
    const page = await revisionsPage(client, { layer, limit: Math.min(pageSize, limit - revisions.length), after });
    revisions.push(...page.revisions);
    after = page.next ?? undefined;
  } while (after !== undefined && revisions.length < limit);
  return { revisions, isMore: after !== undefined };
}

export interface ShowOptions {
  readonly server: ApiServer;
  readonly output: "text" | "json";
  /** An id, or the beginning of one. */
  readonly revision: string;
}

/** Prints one revision and what it changed. Resolves to the exit status. */
export function runShow(options: ShowOptions, terminal: Terminal): Promise<number> {
  return withServer("show", options, terminal, async (client) => {
    const { id } = await findRevision(client, options.revision);
    const revision = await revisionWithChanges(client, id);
    if (options.output === "json") terminal.out(jsonText(revision));
    else {
      const paint = paintOf(terminal, "out");
      const changes = changesText(changesAtServer(revision.changes, undefined), paint) || "nothing differs\n";
      tell(terminal, `${revisionHead(revision, paint)}\n`);
      terminal.out(changes);
    }
    return exitStatus.ok;
  });
}
